#!/bin/sh
# Stands in for a coding agent: each iteration tries what an agent might try. The
# last line that it prints is the summary of its change.
cd "$(dirname "$0")" || exit 1

# move PLACE BEHIND puts a place behind another one.
move() {
	grep -vx "$1" route.txt | sed "s/^$2\$/&\\
$1/" >route.new && mv route.new route.txt
	echo "Call at the $1 after the $2"
}

case $AUTOLOOP_ITERATION in
1) move hospital station ;;
2) move castle station ;;
3)
	sed 's/minutes + traffic/0.5 * minutes + traffic/' ride.sh >ride.new && mv ride.new ride.sh
	echo "Ride twice as fast"
	;;
4)
	awk '{ line[NR] = $0 } END { for (i = NR; i > 0; i--) print line[i] }' route.txt >route.new && mv route.new route.txt
	echo "Ride the other way round"
	;;
5) move library harbour ;;
6) move hospital bakery ;;
*)
	set -- $(grep -vx station route.txt | awk -v seed="$AUTOLOOP_ITERATION" 'BEGIN { srand(seed) } { print rand(), $0 }' | sort | awk '{ print $2 }')
	move "$1" "$2"
	;;
esac
