-- Half-width kana (8E), codes of three bytes (8F) and others come in the order of their bytes.
CREATE TABLE u (a VARCHAR(10) CHARACTER SET ujis, b VARCHAR(10) CHARACTER SET ujis COLLATE ujis_bin, c VARCHAR(10) CHARACTER SET eucjpms, d VARCHAR(10) CHARACTER SET eucjpms COLLATE eucjpms_bin, KEY (a), KEY (c));
INSERT INTO u VALUES (_ujis 0x61, _ujis 0x61, _eucjpms 0x61, _eucjpms 0x61), (_ujis 0x7F, _ujis 0x7F, _eucjpms 0x7F, _eucjpms 0x7F), (_ujis 0x8FA1A1, _ujis 0x8FA1A1, _eucjpms 0x8FA1A1, _eucjpms 0x8FA1A1), (_ujis 0x8FFEFE, _ujis 0x8FFEFE, _eucjpms 0x8FFEFE, _eucjpms 0x8FFEFE), (_ujis 0x8EA1, _ujis 0x8EA1, _eucjpms 0x8EA1, _eucjpms 0x8EA1), (_ujis 0x8EDF, _ujis 0x8EDF, _eucjpms 0x8EDF, _eucjpms 0x8EDF), (_ujis 0xA1A1, _ujis 0xA1A1, _eucjpms 0xA1A1, _eucjpms 0xA1A1), (_ujis 0xDEDE, _ujis 0xDEDE, _eucjpms 0xDEDE, _eucjpms 0xDEDE), (_ujis 0xFEFE, _ujis 0xFEFE, _eucjpms 0xFEFE, _eucjpms 0xFEFE), (_ujis 0x41, _ujis 0x41, _eucjpms 0x41, _eucjpms 0x41), (_ujis 0x8EB1, _ujis 0x8EB1, _eucjpms 0x8EB1, _eucjpms 0x8EB1), (_ujis 0x8FEDDC, _ujis 0x8FEDDC, _eucjpms 0x8FEDDC, _eucjpms 0x8FEDDC);
SELECT HEX(a) FROM u ORDER BY a, b;
SELECT HEX(b) FROM u ORDER BY b;
SELECT HEX(c) FROM u ORDER BY c, d;
SELECT HEX(d) FROM u ORDER BY d;
SELECT HEX(a) FROM u WHERE a < _ujis 0x8FA1A1 ORDER BY a, b;
SELECT HEX(a), HEX(WEIGHT_STRING(a)), HEX(WEIGHT_STRING(b)), HEX(WEIGHT_STRING(c)) FROM u ORDER BY a, b;
SELECT MIN(a) = _ujis 0x41, MAX(a) = _ujis 0xFEFE FROM u;
