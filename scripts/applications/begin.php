<?php
// Runs before each program. What it chooses by chance is then the same for each server.
mt_srand( (int)getenv( 'CHANCE' ) );
