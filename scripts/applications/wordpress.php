<?php
// Installs WordPress by its own functions and uses them: each part is a program of its own. What it prints is compared.

[ , $part, $where, $host, $name, $content ] = $argv;
foreach ( [ 'ABSPATH' => "$where/", 'DB_NAME' => $name, 'DB_USER' => 'root', 'DB_PASSWORD' => '', 'DB_HOST' => $host, 'DB_CHARSET' => 'utf8mb4', 'DB_COLLATE' => '',
	'WP_CONTENT_DIR' => $content, 'DISABLE_WP_CRON' => true, 'WP_HTTP_BLOCK_EXTERNAL' => true, 'WP_SITEURL' => 'http://press.test', 'WP_HOME' => 'http://press.test',
	'WP_MEMORY_LIMIT' => '1G', 'AUTOMATIC_UPDATER_DISABLED' => true, 'SAVEQUERIES' => true ] as $constant => $value ) {
	define( $constant, $value );
}
foreach ( [ 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' ] as $kind ) {
	define( "{$kind}_KEY", "key of $kind" );
	define( "{$kind}_SALT", "salt of $kind" );
}
if ( $part === 'install' ) {
	define( 'WP_INSTALLING', true );
}
$_SERVER += [ 'HTTP_HOST' => 'press.test', 'REQUEST_URI' => '/', 'SERVER_PROTOCOL' => 'HTTP/1.1', 'REMOTE_ADDR' => '192.0.2.5' ];
$_SERVER['REQUEST_METHOD'] = 'GET';
$table_prefix = 'wp_';

// Nobody gets letters.
function wp_mail() {
	return true;
}

require ABSPATH . 'wp-settings.php';
require ABSPATH . 'wp-admin/includes/admin.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/export.php';
$wpdb->hide_errors();
register_post_type( 'book', [ 'public' => true, 'hierarchical' => true, 'has_archive' => true, 'show_in_rest' => true, 'supports' => [ 'title', 'editor', 'revisions', 'custom-fields' ] ] );
register_taxonomy( 'shelf', [ 'book', 'post' ], [ 'hierarchical' => true, 'show_in_rest' => true ] );

function say( string $what, $answer ): void {
	if ( is_wp_error( $answer ) ) {
		$answer = [ 'error' => $answer->get_error_messages() ];
	}
	echo "$what: ", json_encode( $answer, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PARTIAL_OUTPUT_ON_ERROR ), "\n";
}

function install(): void {
	say( 'installed', is_blog_installed() );
	$result = wp_install( 'A press', 'admin', 'admin@press.test', true, '', 'of the admin' );
	say( 'user', $result['user_id'] );
	say( 'installed', is_blog_installed() );
	update_option( 'timezone_string', 'Europe/Berlin' );
	update_option( 'permalink_structure', '/%year%/%postname%/' );
}

const WORDS = [ 'whale', 'sea', 'krill', 'ship', 'Größe', 'storm', 'harbour', '漢字', '🐳 emoji', "quo'te", 'per%cent', 'under_score', 'back\\slash' ];

// People, terms and options that the other parts need.
function people(): void {
	foreach ( [ 'ann' => 'editor', 'bob' => 'author', 'cyd' => 'contributor', 'dee' => 'subscriber', 'ève' => 'author' ] as $login => $role ) {
		$id = wp_insert_user( [ 'user_login' => remove_accents( $login ), 'user_pass' => 'x', 'role' => $role, 'user_email' => remove_accents( $login ) . '@press.test', 'display_name' => ucfirst( $login ),
			'first_name' => $login, 'description' => "I am $login.", 'user_registered' => '2026-02-0' . ( 1 + strlen( $role ) % 9 ) . ' 10:00:00' ] );
		say( "user $login", $id );
		update_user_meta( $id, 'age', 20 + strlen( $role ) * 3 );
		add_user_meta( $id, 'likes', WORDS[ $id % 5 ] );
		add_user_meta( $id, 'likes', WORDS[ $id % 7 ] );
	}
	say( 'the same again', wp_insert_user( [ 'user_login' => 'ann', 'user_pass' => 'x' ] ) );
	say( 'the same address', wp_insert_user( [ 'user_login' => 'ann2', 'user_pass' => 'x', 'user_email' => 'ann@press.test' ] ) );
	$parent = wp_insert_term( 'Animals', 'category', [ 'description' => 'that live' ] );
	foreach ( [ 'Fish', 'Birds', 'fish', 'Vögel', 'Vogel' ] as $term ) {
		say( "term $term", wp_insert_term( $term, 'category', [ 'parent' => $parent['term_id'] ] ) );
	}
	say( 'term fish elsewhere', wp_insert_term( 'Fish', 'category' ) );
	foreach ( WORDS as $i => $word ) {
		say( "tag $word", wp_insert_term( $word, 'post_tag' ) );
		say( "shelf $word", wp_insert_term( "Shelf $word", 'shelf', [ 'parent' => $i > 3 ? term_exists( 'Shelf ' . WORDS[ $i % 4 ], 'shelf' )['term_id'] : 0 ] ) );
	}
	foreach ( [ 'a' => 1, 'b' => [ 'x' => [ 1, 2 ], 'ü' => null ], 'c' => str_repeat( 'long ', 30000 ), 'd' => '', 'e' => false, 'f' => 1.5, 'G' => '🐳' ] as $key => $value ) {
		say( "option $key", [ add_option( "try_$key", $value, '', $key < 'd' ? 'yes' : 'no' ), add_option( "try_$key", 0 ), get_option( "try_$key" ) === $value, strlen( serialize( get_option( "try_$key" ) ) ) ] );
	}
	say( 'option', [ update_option( 'try_a', 2 ), update_option( 'try_a', 2 ), update_option( 'try_new', 'n' ), delete_option( 'try_b' ), delete_option( 'try_none' ), get_option( 'TRY_A' ) ] );
	set_transient( 'kept', [ 1 ], 3600 );
	set_transient( 'late', [ 2 ], -3600 );
	set_site_transient( 'site', 'x', 60 );
	say( 'transients', [ get_transient( 'kept' ), get_transient( 'late' ), get_site_transient( 'site' ) ] );
	delete_expired_transients( true );
	say( 'link', wp_insert_link( [ 'link_name' => 'A link', 'link_url' => 'http://example.org/' ] ) );
}

function posts(): void {
	$fish = term_exists( 'Fish', 'category' )['term_id'];
	$birds = term_exists( 'Birds', 'category' )['term_id'];
	for ( $i = 1; $i <= 40; $i++ ) {
		$word = WORDS[ $i % count( WORDS ) ];
		$id = wp_insert_post( wp_slash( [ 'post_title' => $i % 3 ? "About $word" : ucfirst( $word ) . " no. $i", 'post_content' => str_repeat( "The $word of number $i. ", $i ), 'post_excerpt' => $i % 4 ? '' : "In short: $word",
			'post_status' => [ 'publish', 'publish', 'publish', 'draft', 'private', 'publish', 'pending', 'future' ][ $i % 8 ], 'post_type' => [ 'post', 'book', 'post', 'page' ][ $i % 4 ], 'post_author' => 1 + $i % 5,
			'post_date' => $i % 8 === 7 ? "2030-01-01 00:00:00" : sprintf( '20%02d-%02d-%02d %02d:30:00', 20 + $i % 6, 1 + $i % 12, 1 + $i % 28, $i % 24 ), 'menu_order' => 40 - $i, 'comment_status' => 'open', 'post_password' => $i === 10 ? 'secret' : '',
			'meta_input' => [ 'number' => $i * 7 % 40, 'price' => sprintf( '%.2f', $i * 1.37 ), 'color' => [ 'red', 'Green', 'blü' ][ $i % 3 ], 'day' => sprintf( '2025-%02d-%02d', 1 + $i % 12, 1 + $i % 28 ) ],
			'tags_input' => [ $word, WORDS[ $i * 5 % 13 ] ], 'post_category' => $i % 2 ? [ $fish ] : [ $fish, $birds ] ] ), true );
		say( "post $i", [ $id, get_post_field( 'post_name', $id ), get_post_status( $id ) ] );
		$i % 6 || add_post_meta( $id, 'extra', [ 'n' => $i ] );
		$i % 5 || wp_set_object_terms( $id, [ "Shelf $word", 'Shelf sea' ], 'shelf' );
		$i % 9 || stick_post( $id );
	}
	$ids = get_posts( [ 'post_type' => 'post', 'fields' => 'ids', 'numberposts' => 5, 'orderby' => 'ID', 'order' => 'ASC' ] );
	foreach ( $ids as $id ) {
		foreach ( [ 1, 2, 3 ] as $n ) {
			wp_update_post( [ 'ID' => $id, 'post_content' => "Edition $n of $id" ] );
		}
		say( "revisions of $id", wp_list_pluck( wp_get_post_revisions( $id ), 'post_content' ) );
	}
	say( 'same name', get_post_field( 'post_name', wp_insert_post( [ 'post_title' => 'About sea', 'post_status' => 'publish' ] ) ) );
	$menu = wp_create_nav_menu( 'A menu' );
	foreach ( $ids as $id ) {
		wp_update_nav_menu_item( $menu, 0, [ 'menu-item-object-id' => $id, 'menu-item-object' => 'post', 'menu-item-type' => 'post_type', 'menu-item-status' => 'publish' ] );
	}
	say( 'menu', wp_list_pluck( wp_get_nav_menu_items( $menu ), 'title', 'ID' ) );
	say( 'attachment', wp_insert_attachment( [ 'post_title' => 'picture', 'post_mime_type' => 'image/png', 'post_parent' => $ids[0] ], 'a/b.png' ) );
	comments( $ids );
}

function comments( array $ids ): void {
	$last = 0;
	for ( $i = 1; $i <= 30; $i++ ) {
		$_SERVER['REMOTE_ADDR'] = "192.0.2.$i";
		$last = wp_insert_comment( [ 'comment_post_ID' => $ids[ $i % 5 ], 'comment_author' => WORDS[ $i % 7 ], 'comment_author_email' => "c$i@press.test", 'comment_content' => "I say $i about " . WORDS[ $i % 13 ],
			'comment_approved' => [ 1, 1, 0, 'spam' ][ $i % 4 ], 'comment_parent' => $i % 3 ? 0 : $last, 'user_id' => $i % 5 ? 0 : 2, 'comment_date' => sprintf( '2026-01-%02d 12:00:00', $i ), 'comment_type' => $i % 11 ? 'comment' : 'pingback',
			'comment_meta' => [ 'stars' => $i % 6 ] ] );
	}
	say( 'counts', array_map( 'get_comments_number', $ids ) );
	say( 'by the form', wp_new_comment( [ 'comment_post_ID' => $ids[0], 'comment_author' => 'F', 'comment_author_email' => 'f@press.test', 'comment_author_url' => '', 'comment_content' => 'By the form', 'comment_type' => 'comment', 'comment_parent' => 0, 'user_id' => 0 ], true ) );
	say( 'again', wp_new_comment( [ 'comment_post_ID' => $ids[0], 'comment_author' => 'F', 'comment_author_email' => 'f@press.test', 'comment_author_url' => '', 'comment_content' => 'By the form', 'comment_type' => 'comment', 'comment_parent' => 0, 'user_id' => 0 ], true ) );
}

function queries(): void {
	$all = [ 'post_type' => [ 'post', 'page', 'book' ], 'fields' => 'ids', 'posts_per_page' => 12, 'orderby' => 'ID' ];
	$asked = [
		[ 's' => 'whale' ], [ 's' => '"The sea" number' ], [ 's' => 'sea -number' ], [ 's' => 'größe' ], [ 's' => 'GROSSE' ], [ 's' => '漢' ], [ 's' => '🐳' ], [ 's' => "quo'te" ], [ 's' => 'per%cent' ], [ 's' => 'under_' ], [ 's' => 'back\\\\slash' ],
		[ 's' => 'sea ship', 'orderby' => [ 'relevance' => 'DESC', 'ID' => 'ASC' ] ], [ 's' => 'number 7', 'exact' => true ], [ 's' => 'in short', 'sentence' => true ],
		[ 'paged' => 2 ], [ 'offset' => 5, 'posts_per_page' => 3 ], [ 'orderby' => 'title ID', 'order' => 'ASC' ], [ 'orderby' => [ 'menu_order' => 'ASC', 'ID' => 'ASC' ] ], [ 'orderby' => [ 'date' => 'DESC', 'ID' => 'ASC' ] ], [ 'orderby' => [ 'comment_count' => 'DESC', 'ID' => 'DESC' ] ],
		[ 'orderby' => [ 'type' => 'ASC', 'name' => 'DESC' ] ], [ 'orderby' => [ 'author' => 'ASC', 'modified' => 'ASC', 'ID' => 'ASC' ] ], [ 'post__in' => [ 30, 12, 8, 20, 15 ], 'orderby' => 'post__in' ], [ 'post__not_in' => [ 12, 13 ] ],
		[ 'meta_key' => 'number', 'orderby' => [ 'meta_value_num' => 'DESC', 'ID' => 'ASC' ] ], [ 'meta_key' => 'color', 'orderby' => [ 'meta_value' => 'ASC', 'ID' => 'ASC' ] ],
		[ 'meta_query' => [ [ 'key' => 'number', 'value' => [ 10, 20 ], 'compare' => 'BETWEEN', 'type' => 'NUMERIC' ] ] ], [ 'meta_query' => [ [ 'key' => 'price', 'value' => 20.5, 'compare' => '>=', 'type' => 'DECIMAL(10,2)' ] ] ],
		[ 'meta_query' => [ 'relation' => 'OR', [ 'key' => 'color', 'value' => 'green' ], [ 'key' => 'extra', 'compare' => 'EXISTS' ] ] ], [ 'meta_query' => [ [ 'key' => 'extra', 'compare' => 'NOT EXISTS' ] ] ],
		[ 'meta_query' => [ [ 'key' => 'day', 'value' => '2025-06-15', 'compare' => '<', 'type' => 'DATE' ] ] ], [ 'meta_query' => [ [ 'key' => 'color', 'value' => '^[rg]', 'compare' => 'REGEXP' ] ] ], [ 'meta_query' => [ [ 'key' => 'color', 'value' => 'e', 'compare' => 'NOT LIKE' ] ] ],
		[ 'meta_query' => [ [ 'key' => 'number', 'value' => [ '7', '14', '21' ], 'compare' => 'IN' ] ] ], [ 'meta_query' => [ [ 'key' => 'num', 'compare_key' => 'LIKE', 'value' => 5, 'compare' => '>', 'type' => 'SIGNED' ] ] ],
		[ 'meta_query' => [ [ 'key' => '^(pri|col)', 'compare_key' => 'REGEXP', 'type_key' => 'BINARY', 'value' => 'red' ] ] ], [ 'meta_query' => [ [ 'key' => 'color', 'value' => 'GREEN', 'type' => 'BINARY' ] ] ],
		[ 'meta_query' => [ 'relation' => 'AND', 'n' => [ 'key' => 'number', 'type' => 'UNSIGNED' ], 'c' => [ 'relation' => 'OR', [ 'key' => 'color', 'value' => 'red' ], [ 'key' => 'price', 'value' => '9', 'compare' => '<', 'type' => 'DECIMAL' ] ] ], 'orderby' => [ 'n' => 'DESC', 'ID' => 'ASC' ] ],
		[ 'category_name' => 'birds' ], [ 'category__and' => [ 3, 4 ] ], [ 'category__not_in' => [ 4 ] ], [ 'tag' => 'sea,ship' ], [ 'tag' => 'sea+ship' ], [ 'tag_slug__in' => [ 'storm' ] ],
		[ 'tax_query' => [ [ 'taxonomy' => 'shelf', 'field' => 'slug', 'terms' => 'shelf-sea', 'include_children' => true ] ] ], [ 'tax_query' => [ [ 'taxonomy' => 'shelf', 'operator' => 'NOT EXISTS' ] ] ], [ 'tax_query' => [ [ 'taxonomy' => 'shelf', 'operator' => 'EXISTS' ] ] ],
		[ 'tax_query' => [ 'relation' => 'OR', [ 'taxonomy' => 'post_tag', 'field' => 'name', 'terms' => [ 'storm', 'krill' ] ], [ 'relation' => 'AND', [ 'taxonomy' => 'category', 'field' => 'slug', 'terms' => 'birds' ], [ 'taxonomy' => 'shelf', 'field' => 'slug', 'terms' => [ 'shelf-sea' ], 'operator' => 'NOT IN' ] ] ] ],
		[ 'tax_query' => [ [ 'taxonomy' => 'post_tag', 'field' => 'slug', 'terms' => [ 'sea', 'ship' ], 'operator' => 'AND' ] ], 'meta_query' => [ [ 'key' => 'number', 'value' => 3, 'compare' => '!=' ] ], 'date_query' => [ [ 'after' => '2021-01-01' ] ], 's' => 'the' ],
		[ 'year' => 2023 ], [ 'm' => 202304 ], [ 'monthnum' => 4 ], [ 'w' => 10 ], [ 'hour' => 5 ], [ 'date_query' => [ [ 'before' => 'January 1st, 2023', 'inclusive' => true ], [ 'month' => [ 3, 4, 5 ], 'compare' => 'IN' ] ] ],
		[ 'date_query' => [ 'relation' => 'OR', [ 'dayofweek' => [ 2, 6 ], 'compare' => 'BETWEEN' ], [ 'hour' => 9, 'minute' => 30, 'compare' => '<=' ] ] ], [ 'date_query' => [ [ 'dayofyear' => 100, 'compare' => '>' ], [ 'week' => 20, 'compare' => '<' ], [ 'dayofweek_iso' => 1, 'compare' => '!=' ] ] ],
		[ 'author' => 2 ], [ 'author__in' => [ 1, 3 ] ], [ 'author_name' => 'ann' ], [ 'post_status' => 'any' ], [ 'post_status' => [ 'draft', 'future' ] ], [ 'post_status' => 'private', 'perm' => 'readable' ], [ 'has_password' => true ], [ 'title' => 'about SEA' ], [ 'name' => 'about-sea' ],
		[ 'comment_count' => [ 'value' => 3, 'compare' => '>=' ] ], [ 'post_parent' => 0, 'post_type' => 'attachment', 'post_status' => 'inherit' ], [ 'ignore_sticky_posts' => false, 'fields' => '', 'orderby' => 'date', 'post_type' => 'post' ],
	];
	foreach ( $asked as $query ) {
		$found = new WP_Query( $query + $all );
		say( json_encode( $query, JSON_UNESCAPED_UNICODE ), [ $found->found_posts, $found->max_num_pages, array_map( fn( $p ) => is_object( $p ) ? $p->ID : $p, $found->posts ) ] );
	}
	others();
}

// Queries of people, terms and comments, and what is shown beside posts.
function others(): void {
	foreach ( [ [ 'role' => 'author' ], [ 'role__not_in' => [ 'author', 'editor' ] ], [ 'search' => '*press*', 'orderby' => 'login' ], [ 'meta_key' => 'age', 'orderby' => 'meta_value_num' ], [ 'meta_query' => [ [ 'key' => 'likes', 'value' => 'sea' ] ] ],
		[ 'has_published_posts' => true ], [ 'orderby' => [ 'post_count' => 'DESC', 'ID' => 'ASC' ] ], [ 'login__in' => [ 'ann', 'bob' ] ], [ 'date_query' => [ [ 'before' => '2026-02-05' ] ] ], [ 'capability' => 'edit_posts' ], [ 'who' => 'authors' ] ] as $query ) {
		$found = new WP_User_Query( $query + [ 'fields' => 'ID', 'orderby' => 'ID' ] );
		say( 'users ' . json_encode( $query ), [ $found->get_total(), $found->get_results() ] );
	}
	foreach ( [ [], [ 'orderby' => 'count', 'order' => 'DESC', 'number' => 1 ], [ 'search' => 'SEA' ], [ 'name__like' => 'vog' ], [ 'hide_empty' => false, 'parent' => 0 ], [ 'child_of' => 2, 'hide_empty' => false ], [ 'taxonomy' => [ 'shelf', 'category' ], 'pad_counts' => true ], [ 'object_ids' => [ 10, 11, 12 ] ], [ 'slug' => [ 'fish', 'sea' ] ], [ 'childless' => true, 'taxonomy' => 'category' ] ] as $query ) {
		say( 'terms ' . json_encode( $query ), array_map( fn( $t ) => [ $t->term_id, $t->name, $t->count ], array_values( get_terms( $query + [ 'orderby' => 'term_id' ] ) ) ) );
	}
	foreach ( [ [ 'status' => 'all' ], [ 'status' => 'spam' ], [ 'search' => 'whale' ], [ 'author_email' => 'c5@press.test' ], [ 'parent' => 0, 'hierarchical' => 'threaded' ], [ 'meta_key' => 'stars', 'orderby' => [ 'meta_value_num' => 'DESC', 'comment_ID' => 'ASC' ] ], [ 'type' => 'pings' ], [ 'post_author' => 3 ], [ 'count' => true ], [ 'date_query' => [ [ 'day' => [ 10, 20 ], 'compare' => 'BETWEEN' ] ] ], [ 'user_id' => 2, 'number' => 2, 'offset' => 1 ] ] as $query ) {
		$found = get_comments( $query + [ 'orderby' => 'comment_ID', 'order' => 'ASC' ] );
		say( 'comments ' . json_encode( $query ), is_array( $found ) ? array_values( array_map( fn( $c ) => $c->comment_ID, $found ) ) : $found );
	}
	foreach ( [ 'post', 'page', 'book' ] as $type ) {
		say( "counts of $type", wp_count_posts( $type ) );
	}
	say( 'comments', wp_count_comments() );
	say( 'people', count_users() );
	say( 'of them', count_many_users_posts( [ 1, 2, 3, 4, 5 ], [ 'post', 'book' ] ) );
	say( 'archives', [ wp_get_archives( [ 'echo' => 0 ] ), wp_get_archives( [ 'type' => 'yearly', 'echo' => 0, 'show_post_count' => true ] ), wp_get_archives( [ 'type' => 'weekly', 'echo' => 0, 'limit' => 3 ] ), wp_get_archives( [ 'type' => 'daily', 'echo' => 0, 'limit' => 3 ] ) ] );
	$GLOBALS['post'] = get_post( 12 );
	say( 'beside', [ get_adjacent_post()->ID ?? null, get_adjacent_post( false, '', false )->ID ?? null, get_adjacent_post( true )->ID ?? null, get_adjacent_post( true, [ 3 ], false, 'post_tag' )->ID ?? null ] );
	say( 'cloud', wp_tag_cloud( [ 'echo' => false, 'format' => 'array' ] ) );
	say( 'categories', wp_list_categories( [ 'echo' => 0, 'show_count' => 1, 'hide_empty' => 0 ] ) );
	say( 'pages', wp_list_pages( [ 'echo' => 0, 'sort_column' => 'post_title,ID' ] ) );
	say( 'by path', get_page_by_path( 'sample-page' )->ID ?? null );
	say( 'by title', get_page_by_title( 'ABOUT SEA', OBJECT, 'post' )->ID ?? null );
	foreach ( [ '/wp/v2/posts?per_page=5&orderby=id', '/wp/v2/book?search=whale&orderby=id', '/wp/v2/categories?orderby=count&per_page=3&orderby=id', '/wp/v2/tags?hide_empty=1&orderby=id', '/wp/v2/users?orderby=id', '/wp/v2/comments?orderby=id', '/wp/v2/search?search=sea&orderby=id', '/wp/v2/posts?tags=5,6&tax_relation=OR&orderby=id', '/wp/v2/settings' ] as $path ) {
		[ $route, $words ] = explode( '?', "$path?" );
		parse_str( $words, $given );
		$request = new WP_REST_Request( 'GET', $route );
		$request->set_query_params( $given );
		say( $path, rest_do_request( $request )->get_data() );
	}
}

function changes(): void {
	foreach ( get_posts( [ 'post_type' => 'any', 'post_status' => 'any', 'fields' => 'ids', 'numberposts' => 12, 'orderby' => 'ID', 'order' => 'DESC' ] ) as $i => $id ) {
		say( "delete $id", $i % 2 ? (bool)wp_trash_post( $id ) : (bool)wp_delete_post( $id, true ) );
	}
	say( 'back', array_map( fn( $id ) => (bool)wp_untrash_post( $id ), get_posts( [ 'post_status' => 'trash', 'post_type' => 'any', 'fields' => 'ids', 'numberposts' => 2, 'orderby' => 'ID' ] ) ) );
	$sea = get_term_by( 'slug', 'sea', 'post_tag' );
	say( 'renamed', wp_update_term( $sea->term_id, 'post_tag', [ 'name' => 'The Sea', 'slug' => 'the-sea' ] ) );
	say( 'gone', [ wp_delete_term( get_term_by( 'slug', 'ship', 'post_tag' )->term_id, 'post_tag' ), wp_delete_category( get_term_by( 'slug', 'birds', 'category' )->term_id ) ] );
	say( 'user gone', [ wp_delete_user( 4, 2 ), wp_delete_user( 5 ), count_users()['total_users'] ] );
	foreach ( get_comments( [ 'number' => 6, 'orderby' => 'comment_ID', 'order' => 'ASC' ] ) as $i => $comment ) {
		say( "comment {$comment->comment_ID}", [ wp_spam_comment( $comment ), $i % 2 ? wp_unspam_comment( $comment ) : wp_delete_comment( $comment, true ) ] );
	}
	say( 'meta', [ delete_post_meta_by_key( 'color' ), update_post_meta( 12, 'number', 1000, 3 ), delete_metadata( 'user', 0, 'likes', 'sea', true ), update_metadata( 'post', 12, 'new', "a'b" ) ] );
	wp_publish_post( get_posts( [ 'post_status' => 'future', 'fields' => 'ids', 'numberposts' => 1, 'orderby' => 'ID' ] )[0] ?? 0 );
	wp_update_comment_count_now( 12 );
	clean_term_cache( [ 1, 2, 3 ] );
	_update_generic_term_count( get_terms( [ 'taxonomy' => 'shelf', 'fields' => 'tt_ids', 'hide_empty' => false ] ), get_taxonomy( 'shelf' ) );
	ob_start();
	export_wp();
	// It asks for no order.
	$lines = explode( "\n", ob_get_clean() );
	sort( $lines );
	foreach ( $lines as $line ) {
		say( 'export', $line );
	}
}

// Tables grow by dbDelta, and an older WordPress becomes this one.
function upgrades(): void {
	global $wpdb;
	$lines = [ 'id bigint(20) unsigned NOT NULL auto_increment', "name varchar(100) NOT NULL default ''", 'PRIMARY KEY  (id)' ];
	foreach ( [ [], [], [ "name varchar(191) NOT NULL default 'x'", 'body longtext NOT NULL' ], [ 'num decimal(10,2) NULL', 'KEY name (name(20),num)' ], [ "kind enum('a','b') DEFAULT 'a'", 'made datetime DEFAULT CURRENT_TIMESTAMP', 'UNIQUE KEY both_of (kind,made)' ], [] ] as $more ) {
		foreach ( $more as $line ) {
			$lines = array_values( array_filter( $lines, fn( $l ) => strtok( $l, ' ' ) !== strtok( $line, ' ' ) || strtok( $line, ' ' ) === 'KEY' ) );
			array_splice( $lines, 1, 0, [ $line ] );
		}
		usort( $lines, fn( $a, $b ) => (int)preg_match( '/KEY /', $a ) <=> (int)preg_match( '/KEY /', $b ) );
		$sql = "CREATE TABLE {$wpdb->prefix}grown (\n" . implode( ",\n", $lines ) . "\n) " . $wpdb->get_charset_collate() . ';';
		say( 'dbDelta', dbDelta( $sql ) );
		say( 'table', $wpdb->get_results( "DESCRIBE {$wpdb->prefix}grown" ) );
	}
	say( 'own tables', dbDelta( 'all', false ) );
	foreach ( [ 'posts', 'comments', 'options', 'terms' ] as $table ) {
		$wpdb->query( "ALTER TABLE {$wpdb->$table} CONVERT TO CHARACTER SET utf8" );
	}
	$wpdb->query( "ALTER TABLE {$wpdb->comments} DROP INDEX comment_author_email" );
	$wpdb->query( "ALTER TABLE {$wpdb->termmeta} RENAME TO {$wpdb->prefix}other" );
	$wpdb->query( "ALTER TABLE {$wpdb->posts} MODIFY post_title varchar(50) NOT NULL" );
	say( 'shorter', $wpdb->last_error );
	update_option( 'db_version', 15260 );
	update_option( 'initial_db_version', 15260 );
	wp_upgrade();
	say( 'version', get_option( 'db_version' ) );
	say( 'tables', $wpdb->get_results( 'SHOW TABLE STATUS' , OBJECT_K ) ? array_map( fn( $t ) => $t->Collation, $wpdb->get_results( 'SHOW TABLE STATUS', OBJECT_K ) ) : null );
	foreach ( $wpdb->tables() as $table ) {
		say( $table, [ $wpdb->get_results( "SHOW FULL COLUMNS FROM $table" ), array_map( fn( $k ) => [ $k->Key_name, $k->Column_name, $k->Sub_part, $k->Non_unique ], $wpdb->get_results( "SHOW INDEX FROM $table" ) ) ] );
	}
	say( 'own tables', dbDelta( 'all', false ) );
	say( 'lengths', [ $wpdb->get_col_length( $wpdb->posts, 'post_title' ), $wpdb->get_col_charset( $wpdb->posts, 'post_content' ), $wpdb->insert( $wpdb->terms, [ 'name' => str_repeat( 'ü', 300 ), 'slug' => 's' ] ), $wpdb->last_error ] );
	say( 'bytes', [ $wpdb->strip_invalid_text_for_column( $wpdb->posts, 'post_content', "a\xffb🐳" ), $wpdb->insert( $wpdb->options, [ 'option_name' => "x\xff", 'option_value' => '' ] ), $wpdb->replace( $wpdb->options, [ 'option_id' => 1, 'option_name' => 'siteurl', 'option_value' => 'http://press.test' ] ), $wpdb->rows_affected ] );
}

$part();
global $EZSQL_ERROR;
foreach ( (array)$EZSQL_ERROR as $error ) {
	echo 'error: ', $error['error_str'], ' in ', preg_replace( '/\s+/', ' ', $error['query'] ), "\n";
}
echo count( $wpdb->queries ), " queries\n";
if ( getenv( 'SHOW_QUERIES' ) ) {
	foreach ( $wpdb->queries as $query ) {
		fwrite( STDERR, preg_replace( '/\s+/', ' ', $query[0] ) . "\n" );
	}
}
