<?php
// Each argument looked up by PHP's own gethostbynamel (IPv4 alone). The opening tag is not sent: php -r takes none.
foreach(array_slice($argv,1) as $n){$a=gethostbynamel($n);echo $n."\t".($a?"ok\t".implode(" ",$a):"\tgethostbynamel: false")."\n";}
