"""Which family a file of the corpus belongs to, by its name."""

from __future__ import annotations

import re

# The first that matches counts.
_FAMILIES = [
    ("system versioning", r"^versioning|system_versioning|^period|temporal_table"),
    ("window functions", r"^win|window|percentile|_rank|lead_lag"),
    ("JSON", r"json"),
    ("GIS", r"gis|geom|spatial|point|mbr"),
    ("full text", r"fulltext|^fts|_fts"),
    ("partitions", r"partition|^parts"),
    ("triggers", r"trigger"),
    ("events", r"event"),
    ("stored programs", r"^sp[-_0-9.]|^sp$|stored|procedure|cursor|signal|get_diagnostics|compound|rowtype|type_of|anchored|custom_aggregate|"
     r"plsql|package|sql_mode_oracle|sp_|udf|handler_"),
    ("roles and users", r"role|grant|user|acl|password|privil|create_drop_user|account|auth|ssl|plugin_auth|set_password|mysql_upgrade|skip_grants|lowercase_fs|failed_auth|delete_anonymous|connect$"),
    ("character sets", r"^ctype|charset|collat|cast_character|character|weight_string|uca|utf8"),
    ("sequences", r"sequence"),
    ("views", r"view"),
    ("common table expressions", r"cte|recursive"),
    ("subqueries", r"subselect|subquer|derived|semijoin|^sj|in_subq|exists2in|table_value_constr|subq"),
    ("replication and log", r"binlog|rpl|slave|gtid|mysqlbinlog|log_|_log|flashback|xa"),
    ("optimizer and EXPLAIN", r"explain|optimizer|opt_|range|index_merge|join_cache|mrr|icp|selectivity|stat_tables|statistics|histogram|analyze|"
     r"rowid_filter|cost|loose|group_min_max|order_by|sargable|null_key|key_cache|ref_or_null|condition_push|having_cond|table_elim|not_null|greedy|long_unique"),
    ("joins and selects", r"join|select|union|intersect|except|brackets|limit|distinct|having|group|order|empty|null|key|single_delete|fetch_first|"
     r"set_operation|negation|bool|compare|olap|count_distinct|max_min|rownum|nested|parser|precedence"),
    ("functions and expressions", r"func|^date|timezone|time|locale|bigint|cast|case|udf|math|round|like|regexp|gis|password|des_|aes|uuid|default|varbinary|"
     r"ps_|strict|sql_mode|column_comp|dyncol|concat|in_|replace$|old-mode|xml|str_|adddate|session_tracker|metadata"),
    ("types", r"^type|decimal|float|bit|enum|set$|auto_increment|auto_inc|blob|inet|ansi|constraints|check_|invisible|vcol|gcol|virtual|precision|zerofill|serial"),
    ("DDL", r"alter|create|drop|rename|foreign|truncate|temp_table|tmp|mdl|lock|index|if_exists|repair|check|table|comment|keys|unique|row_format|ddl|symlink|database|db|identity|ignore"),
    ("engines", r"innodb|myisam|merge|heap|memory|maria|aria|csv|archive|blackhole|federated|engine|mrg|^s3|partitioning"),
    ("INSERT, UPDATE, DELETE, LOAD", r"insert|update|delete|load|outfile|outer|replace|multi_|returning|dml|handler|bulk"),
    ("prepared statements", r"^ps|prepare|execute|query_attributes"),
    ("variables", r"variab|^sys_vars|set_statement|_basic|_func$|option|default_storage|status|max_|query_cache|cache|timeout|read_only|concurrent"),
    ("information_schema", r"information|infoschema|i_s|^show|status|processlist|profil|perfschema|mysqlshow|sysschema|help|describe"),
    ("clients and tools", r"mysql|client|mysqld|dump|mtr|shutdown|kill|bootstrap|packet|init_|no-thread|plugin|install|connect"),
]  # fmt: skip
FAMILIES = [name for name, _ in _FAMILIES] + ["others"]
_COMPILED = [(name, re.compile(pattern)) for name, pattern in _FAMILIES]
_SUITES = {
    "versioning": "system versioning", "period": "system versioning", "json": "JSON", "gis": "GIS", "parts": "partitions", "roles": "roles and users",
    "innodb_fts": "full text", "innodb_gis": "GIS", "sys_vars": "variables", "sql_sequence": "sequences", "gcol": "types", "vcol": "types",
    "compat": "stored programs", "funcs_1": "information_schema", "csv": "engines", "archive": "engines", "heap": "engines", "maria": "engines",
    "innodb": "engines", "perfschema": "information_schema", "rpl": "replication and log", "binlog": "replication and log", "engines": "engines",
}  # fmt: skip


def family(suite: str, name: str) -> str:
    if suite in _SUITES:
        return _SUITES[suite]
    return next((label for label, pattern in _COMPILED if pattern.search(name.lower())), "others")
