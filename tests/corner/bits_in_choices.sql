-- Hexadecimal literals, and choices among them, are numbers where numbers are wanted.
SELECT coalesce(0x31)+1, if(1,0x31,0x30)+1, ifnull(0x31,0x30)+1, nullif(0x31,0)+1, case when 1 then 0x31 end + 1, case 1 when 1 then 0x31 else 0x30 end + 1.0;
SELECT greatest(0x31,0x30)+1, least(0x31,0x30)+1, coalesce(0x31,0)+1, coalesce(0x31,'0')+1, coalesce(null,0x31)+1, coalesce(0x31), concat(coalesce(0x31)), coalesce(coalesce(0x31))+1, nvl2(1,0x31,0x30)+1, coalesce(x'31')+1;
SELECT hex(coalesce(0x31)), coalesce(0x31) = 49, coalesce(0x31) = '1', coalesce(0x31) > 5, sum(coalesce(0x31)), avg(if(1,0x31,0)), coalesce(0x31)|0, -coalesce(0x31), cast(coalesce(0x31) as signed), cast(coalesce(0x31) as decimal(5,1));
SELECT coalesce(0x31) between 40 and 50, coalesce(0x31) in (49), mod(coalesce(0x31),10), coalesce(0x31) % 10, coalesce(0x31) div 10;
SELECT 0xfffffffffffffffff+0, 0xfffffffffffffffff*1e0, 0x10000000000000041|0, round(coalesce(b'101010'),2), 10 + b'00110001';
CREATE TABLE bc (a BIGINT, b BIGINT UNSIGNED, f INT, g VARBINARY(30));
INSERT INTO bc VALUES (0xfffffffffffffffff,1,1,1);
INSERT IGNORE INTO bc VALUES (0xfffffffffffffffff,0xfffffffffffffffff,0xfffffffffffffffff,0xfffffffffffffffff);
SELECT a, b, f, hex(g) FROM bc;
SELECT ROW(1,1) | 1;
SELECT 1 & ROW(1,1);
SELECT ~ROW(1,1);
SELECT ROW(1,1) + 1;
SELECT LEAST(ROW(1,1), 1);
SELECT GREATEST(1, ROW(1,1));
SELECT TIMESTAMPDIFF(SECOND,ROW(1,1),1);
SELECT JSON_DEPTH(ROW(1,1));
SELECT REGEXP_INSTR(ROW(1,1),'');
CREATE TABLE bb (id INT PRIMARY KEY, b BIT(8), c BIT(8));
INSERT INTO bb VALUES (1,b'110010',b'110001'),(2,b'1000001',NULL);
SELECT id, hex(b), coalesce(b), if(1,b,c), case when 1 then b end, ifnull(b,c), nullif(b,c), least(b,c), greatest(b,c), concat(coalesce(b)), hex(coalesce(b)), coalesce(b)+0, length(coalesce(b)) FROM bb ORDER BY id;
SELECT max(b), min(c) FROM bb;
-- Of several lengths.
CREATE TABLE bl (a BIT(7), b BIT(8));
INSERT INTO bl VALUES (b'1001100', b'10001');
SELECT COALESCE(a, b), COALESCE(b, a), IF(a IS NULL, b, a), IFNULL(a, b), LEAST(a, b), GREATEST(a, b), CASE WHEN 1 THEN a ELSE b END FROM bl;
SELECT CONCAT(COALESCE(a, b)), HEX(COALESCE(a, b)), COALESCE(a, b) + 0, COALESCE(a, b) = 76, LENGTH(COALESCE(a, b)) FROM bl;
