-- Letters have the cases of their collation's version of Unicode.
CREATE TABLE letters (id INT PRIMARY KEY, c VARCHAR(4) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci);
INSERT INTO letters VALUES (1, 'Ⱥ'), (2, 'ⱥ'), (3, 'İ'), (4, 'ᾳ'), (5, 'ϲ'), (6, 'ꙁ'), (7, '𐐨'), (8, 'ა'), (9, 'ß'), (10, 'ӏ'), (11, 'ǆ'), (12, 'ꟕ');
SELECT id, HEX(LOWER(c)), HEX(UPPER(c)) FROM letters ORDER BY id;
SELECT id, HEX(LOWER(c COLLATE utf8mb4_unicode_ci)), HEX(UPPER(c COLLATE utf8mb4_unicode_ci)) FROM letters ORDER BY id;
SELECT id, HEX(LOWER(c COLLATE utf8mb4_unicode_520_ci)), HEX(UPPER(c COLLATE utf8mb4_unicode_520_ci)) FROM letters ORDER BY id;
SELECT id, HEX(LOWER(c COLLATE utf8mb4_uca1400_ai_ci)), HEX(UPPER(c COLLATE utf8mb4_uca1400_ai_ci)) FROM letters ORDER BY id;
SELECT id, HEX(LOWER(c COLLATE utf8mb4_turkish_ci)), HEX(UPPER(c COLLATE utf8mb4_myanmar_ci)), HEX(UPPER(c COLLATE utf8mb4_bin)) FROM letters ORDER BY id;
SELECT id, HEX(LOWER(CONVERT(c USING utf8mb3))), HEX(UPPER(CONVERT(c USING ucs2))) FROM letters WHERE id <> 7 ORDER BY id;
SELECT SOUNDEX('¿À'), SOUNDEX('Ünder'), SOUNDEX('«q»');
