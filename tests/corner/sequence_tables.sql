-- Tables of numbers that exist by their names.
SELECT * FROM seq_1_to_5;
SELECT * FROM seq_5_to_1;
SELECT * FROM seq_1_to_10_step_4;
SELECT seq, SQRT(seq) FROM seq_4_to_16_step_12;
CREATE TABLE s (a INT PRIMARY KEY);
INSERT INTO s SELECT seq FROM seq_1_to_1000;
SELECT COUNT(*), SUM(a) FROM s;
SELECT a.seq, b.seq FROM seq_1_to_3 a JOIN seq_1_to_3 b ON a.seq = b.seq + 1 ORDER BY 1;
SELECT * FROM SEQ_1_to_3;
SELECT * FROM seq_1_to_;
SELECT * FROM seq_1_to_3 WHERE seq > 1 ORDER BY seq DESC;
