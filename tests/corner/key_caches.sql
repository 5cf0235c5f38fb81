-- MariaDB's named key caches: settings that are shown back.
SELECT @@kc_one.key_buffer_size, @@kc_one.key_cache_block_size, @@global.kc_one.key_cache_segments;
-- nowarn
SET GLOBAL kc_one.key_cache_block_size = 2048;
SELECT @@kc_one.key_buffer_size, @@kc_one.key_cache_block_size, @@KC_ONE.key_cache_division_limit, @@kc_one.key_cache_age_threshold;
CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY k (b));
CACHE INDEX t IN kc_one;
CACHE INDEX t IN kc_none;
-- nowarn
SET GLOBAL kc_one.key_buffer_size = 1024 * 1024;
-- nowarn
SET GLOBAL kc_two.key_buffer_size = 2 * 1024 * 1024, kc_two.key_cache_segments = 3;
SELECT KEY_CACHE_NAME, SEGMENTS, SEGMENT_NUMBER, FULL_SIZE, BLOCK_SIZE FROM information_schema.KEY_CACHES WHERE KEY_CACHE_NAME LIKE 'kc%' ORDER BY 1, 3;
CACHE INDEX t IN kc_one;
CACHE INDEX t INDEX (k) IN kc_two;
CACHE INDEX t IN default;
LOAD INDEX INTO CACHE t;
SET GLOBAL kc_one.max_connections = 1;
SET kc_one.key_buffer_size = 1;
SELECT @@kc_one.max_connections;
-- nowarn
SET GLOBAL kc_one.key_buffer_size = 0;
SELECT @@kc_one.key_buffer_size, @@kc_one.key_cache_block_size;
