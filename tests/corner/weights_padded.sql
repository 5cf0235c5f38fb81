-- WEIGHT_STRING(text, length, weights, flags).
select hex(weight_string('abc', 5, 2, 0xC0)), hex(weight_string('abc', 5, 2, 0x40)), hex(weight_string('abc', 5, 2, 0x80)), hex(weight_string('abc', 5, 2, 0)), hex(weight_string('a', 5, 2, 0x40)), hex(weight_string('abc', 0, 2, 0xc0)), hex(weight_string('abc', 5, 0, 0xc0));
select hex(weight_string('abc' collate utf8mb4_unicode_ci, 5, 2, 0xC0)), hex(weight_string('abc' collate utf8mb4_unicode_ci, 3, 2, 0xC0)), hex(weight_string('abc' collate utf8mb4_unicode_ci, 25, 2, 0x40)), hex(weight_string('abc' collate utf8mb4_unicode_ci, 25, 4, 0xc0));
select hex(weight_string(_latin1'abc', 5, 2, 0xC0)), hex(weight_string(_latin1'abc', 5, 4, 0xC0)), hex(weight_string(_latin1'abc' collate latin1_german2_ci, 25, 4, 0xC0)), hex(weight_string(_ucs2 x'00410042', 9, 4, 0xC0)),hex(weight_string(_utf32 x'0000004100000042', 9, 4, 0xC0)),hex(weight_string(_utf8mb4'ab' collate utf8mb4_nopad_bin, 9, 4, 0xC0)),hex(weight_string(_utf8mb4'ab' collate uca1400_ai_ci, 29, 4, 0xC0)),hex(weight_string(_utf8mb4'ab' collate utf8mb4_general_nopad_ci, 9, 4, 0xC0));
select hex(weight_string('abc' collate utf8mb4_bin, 5, 2, 0xC0)), hex(weight_string(_binary 'abc', 5, 2, 0xC0)), hex(weight_string(null,1,1,1)), hex(weight_string(12,4,2,0xC0));
select weight_string('abc', 1+1, 2, 0xC0);
select weight_string('abc', 2, 2);
select hex(weight_string(_latin1 0xE4)), hex(weight_string(_latin1"abc" as char(5))), hex(weight_string(_ascii"aB"));
