-- The temperatures of two rooms. A pipeline of yours reads Kafka or files in place of these rows.
CREATE MATERIALIZED VIEW readings AS
SELECT IF(id % 2 = 0, 'hall', 'kitchen') AS room,
  TIMESTAMP '2026-03-01 09:00:00' + make_interval(0, 0, 0, 0, 0, int(id) + int(id) DIV 50 * 10) AS at,
  18 + id * 7 % 13 AS celsius
FROM range(200);

-- The stream with its watermark, which Python reads, too.
CREATE TEMPORARY VIEW live AS
SELECT * FROM STREAM readings WATERMARK at DELAY OF INTERVAL 5 MINUTES;

-- OVER on a stream: Spark alone refuses it.
CREATE STREAMING TABLE rolling AS
SELECT room, at, celsius,
  avg(celsius) OVER half_hour AS mean, count(DISTINCT celsius) OVER half_hour AS levels
FROM STREAM readings WATERMARK at DELAY OF INTERVAL 5 MINUTES
WINDOW half_hour AS (PARTITION BY room ORDER BY at RANGE INTERVAL 30 MINUTES PRECEDING);

-- Hop windows: one partial for each room and pane, and no copies of rows.
CREATE STREAMING TABLE hourly AS
SELECT room, window(at, '1 hour', '5 minutes') AS hour, count(*) AS readings, max(celsius) AS most
FROM STREAM readings WATERMARK at DELAY OF INTERVAL 5 MINUTES
GROUP BY room, window(at, '1 hour', '5 minutes');

-- OVER in batch.
CREATE MATERIALIZED VIEW smooth AS
SELECT *, avg(celsius) OVER (
  PARTITION BY room ORDER BY at ROWS BETWEEN 20 PRECEDING AND CURRENT ROW) AS mean
FROM readings;

-- Features as of each visit: the readings of the room in the half hour before it.
CREATE MATERIALIZED VIEW visits AS
SELECT v.room, v.at, f.mean, f.readings
FROM VALUES ('hall', TIMESTAMP '2026-03-01 10:00:00'), ('kitchen', TIMESTAMP '2026-03-01 11:30:00')
  AS v(room, at),
LATERAL (
  SELECT avg(r.celsius) AS mean, count(*) AS readings FROM readings AS r
  WHERE r.room = v.room AND r.at >= v.at - INTERVAL 30 MINUTES AND r.at < v.at) AS f;
