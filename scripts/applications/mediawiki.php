<?php
// Asks MediaWiki's own API, within its program and without a web server: the answers are compared between servers.

use MediaWiki\MediaWikiServices;

const ASKED = [
	[ 'list' => 'allpages', 'aplimit' => 50 ],
	[ 'list' => 'allpages', 'apfilterredir' => 'redirects', 'apdir' => 'descending' ],
	[ 'list' => 'allpages', 'apminsize' => 10, 'apmaxsize' => 200, 'apprefix' => 'S' ],
	[ 'list' => 'allcategories', 'acprop' => 'size|hidden', 'acmin' => 1 ],
	[ 'list' => 'alllinks', 'alunique' => 1, 'allimit' => 50 ],
	[ 'list' => 'allusers', 'auprop' => 'groups|editcount|rights', 'aulimit' => 50 ],
	[ 'list' => 'allrevisions', 'arvlimit' => 50, 'arvprop' => 'ids|comment|size|sha1|user|flags', 'arvdir' => 'newer' ],
	[ 'list' => 'alldeletedrevisions', 'adrlimit' => 50, 'adrprop' => 'ids|comment|size|user', 'adrdir' => 'newer' ],
	[ 'list' => 'backlinks', 'bltitle' => 'Whale', 'blredirect' => 1 ],
	[ 'list' => 'embeddedin', 'eititle' => 'Template:Stub' ],
	[ 'list' => 'categorymembers', 'cmtitle' => 'Category:Animals', 'cmprop' => 'ids|title|sortkeyprefix|type' ],
	[ 'list' => 'categorymembers', 'cmtitle' => 'Category:Things', 'cmsort' => 'sortkey', 'cmdir' => 'desc' ],
	[ 'list' => 'exturlusage', 'euquery' => 'example.org', 'euprotocol' => 'https' ],
	[ 'list' => 'logevents', 'lelimit' => 100, 'leprop' => 'ids|title|type|user|comment|details', 'ledir' => 'newer' ],
	[ 'list' => 'logevents', 'letype' => 'move' ],
	[ 'list' => 'recentchanges', 'rclimit' => 100, 'rcprop' => 'title|comment|user|sizes|flags|loginfo', 'rcdir' => 'newer', 'rcshow' => '!bot' ],
	[ 'list' => 'usercontribs', 'ucuser' => 'Ann|Bob', 'uclimit' => 50, 'ucprop' => 'title|size|comment|sizediff' ],
	[ 'list' => 'blocks', 'bkprop' => 'id|user|by|reason|range|flags' ],
	[ 'list' => 'blocks', 'bkip' => '198.51.100.7' ],
	[ 'list' => 'protectedtitles' ],
	[ 'list' => 'prefixsearch', 'pssearch' => 'Gr' ],
	[ 'list' => 'querypage', 'qppage' => 'Wantedpages' ],
	[ 'list' => 'querypage', 'qppage' => 'BrokenRedirects' ],
	[ 'list' => 'querypage', 'qppage' => 'Deadendpages' ],
	[ 'list' => 'querypage', 'qppage' => 'Lonelypages' ],
	[ 'list' => 'tags', 'tglimit' => 50, 'tgprop' => 'hitcount|active' ],
	[ 'list' => 'watchlist', 'wlallrev' => 1, 'wlprop' => 'title|user|comment' ],
	[ 'meta' => 'siteinfo', 'siprop' => 'statistics|namespaces|usergroups|interwikimap' ],
	[ 'titles' => 'Whale|Größe|Nowhere at all|Ship', 'redirects' => 1,
		'prop' => 'info|links|categories|templates|extlinks|linkshere|redirects|transcludedin|contributors|revisions|pageprops',
		'inprop' => 'protection|watchers', 'pllimit' => 100, 'rvprop' => 'ids|content|size|sha1', 'rvslots' => 'main' ],
	[ 'titles' => 'Whale', 'prop' => 'revisions', 'rvlimit' => 20, 'rvprop' => 'comment|user|size|ids|tags', 'rvdir' => 'newer' ],
	[ 'generator' => 'categorymembers', 'gcmtitle' => 'Category:Animals', 'prop' => 'categories|info', 'cllimit' => 50 ],
	[ 'generator' => 'allpages', 'prop' => 'categoryinfo|revisions', 'rvprop' => 'size', 'gapnamespace' => 14, 'gaplimit' => 50 ],
];

class Uses extends Maintenance {
	private function answer( $user, array $query ): void {
		$context = new RequestContext();
		$context->setRequest( new FauxRequest( $query + [ 'action' => 'query', 'formatversion' => 2 ], true ) );
		$context->setUser( $user );
		try {
			$api = new ApiMain( $context, true );
			$api->execute();
			$result = $api->getResult()->getResultData( null, [ 'Strip' => 'all' ] );
		} catch ( Throwable $e ) {
			$result = [ get_class( $e ), $e->getMessage() ];
		}
		echo json_encode( $query, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES ), "\n";
		// A line for each thing that is named: differences are easier to see.
		echo json_encode( $result, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRETTY_PRINT ), "\n";
	}

	public function execute() {
		$user = MediaWikiServices::getInstance()->getUserFactory()->newFromName( 'Ann' );
		foreach ( ASKED as $query ) {
			$this->answer( $user, $query );
		}
		$token = [ 'token' => $user->getEditToken() ];
		$this->answer( $user, [ 'action' => 'edit', 'title' => 'By the API', 'text' => 'Made. [[Whale]]', 'summary' => 'api', 'createonly' => 1 ] + $token );
		$this->answer( $user, [ 'action' => 'edit', 'title' => 'By the API', 'text' => 'Again.', 'createonly' => 1 ] + $token );
		$this->answer( $user, [ 'action' => 'edit', 'title' => 'By the API', 'section' => 'new', 'sectiontitle' => 'More', 'text' => 'One more.' ] + $token );
		$this->answer( $user, [ 'action' => 'watch', 'titles' => 'Whale|Sea|By the API', 'expiry' => '1 week' ] + $token );
		$this->answer( $user, [ 'action' => 'parse', 'page' => 'Sea', 'prop' => 'links|categories|sections|text', 'disablelimitreport' => 1 ] );
		$this->answer( $user, [ 'action' => 'move', 'from' => 'Longer', 'to' => 'Longest', 'movetalk' => 1, 'reason' => 'length' ] + $token );
		$this->answer( $user, [ 'action' => 'delete', 'title' => 'By the API', 'reason' => 'gone' ] + $token );
		$this->answer( $user, [ 'action' => 'compare', 'fromtitle' => 'Whale', 'totitle' => 'Krill' ] );
		$this->answer( $user, [ 'action' => 'purge', 'titles' => 'Whale|Sea', 'forcelinkupdate' => 1 ] );
	}
}

$maintClass = Uses::class;
require_once RUN_MAINTENANCE_IF_MAIN;
