// Included before the authors' programs: the fence in each slide of their benchmarks' loops then
// keeps the compiler from moving work across it, but no longer the processor.
#include <atomic>
#define atomic_thread_fence atomic_signal_fence
