// Stands for Boost's tokenizer where there is no Boost. The authors' program over rides splits the
// lines of its file by it, before it takes time: at commas, without quotes or escapes.
#pragma once

#include <cstddef>
#include <string>

namespace boost {

template <class Char>
struct escaped_list_separator {
    explicit escaped_list_separator(Char = '\\', Char separator = ',', Char = '"')
        : separator(separator) {}
    Char separator;
};

template <class Separator>
class tokenizer {
public:
    explicit tokenizer(const std::string& line, const Separator& by = Separator())
        : line(line), separator(by.separator) {}

    class iterator {
    public:
        iterator() : from(nullptr), at(std::string::npos) {}
        iterator(const tokenizer* from, std::size_t at) : from(from), at(at) { read(); }

        const std::string& operator*() const { return token; }

        iterator& operator++() {
            const auto end = at + token.size();
            at = end < from->line.size() ? end + 1 : std::string::npos;
            read();
            return *this;
        }

        bool operator==(const iterator& other) const { return at == other.at; }
        bool operator!=(const iterator& other) const { return at != other.at; }

    private:
        void read() {
            token.clear();
            if (at == std::string::npos) return;
            const auto end = from->line.find(from->separator, at);
            token = from->line.substr(at, end == std::string::npos ? end : end - at);
        }

        const tokenizer* from;
        std::size_t at;
        std::string token;
    };

    iterator begin() const { return iterator(this, 0); }
    iterator end() const { return iterator(); }

private:
    std::string line;
    char separator;
};

}  // namespace boost
