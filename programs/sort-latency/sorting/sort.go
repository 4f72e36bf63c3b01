package main

// The constants of the sort. At first every slice is short enough for
// insertion, which is slow.
const (
	cutoff = 2048 // tune: 2..2048 int log
	gap    = 1    // tune: 1..64 int log
	sample = 1    // tune: 1..31 int log
)

// Sort puts the values in order, smallest first: by quicksort, down to slices
// that are short enough for insertion.
func Sort(values []int) {
	for len(values) > cutoff {
		low, high := partition(values, pivot(values))
		if low < len(values)-high {
			Sort(values[:low])
			values = values[high:]
		} else {
			Sort(values[high:])
			values = values[:low]
		}
	}
	if gap > 1 {
		insert(values, gap)
	}
	insert(values, 1)
}

// pivot is the median of some values, evenly apart.
func pivot(values []int) int {
	var some [sample]int
	for i := range some {
		some[i] = values[(2*i+1)*len(values)/(2*sample)]
	}
	insert(some[:], 1)
	return some[sample/2]
}

// partition moves smaller values to the front and greater ones to the back, and
// returns where those that equal the pivot begin and end.
func partition(values []int, pivot int) (low, high int) {
	high = len(values)
	for i := 0; i < high; {
		switch x := values[i]; {
		case x < pivot:
			values[i], values[low] = values[low], x
			low++
			i++
		case x > pivot:
			high--
			values[i], values[high] = values[high], x
		default:
			i++
		}
	}
	return low, high
}

// insert sorts every step-th value by insertion.
func insert(values []int, step int) {
	for i := step; i < len(values); i++ {
		x, at := values[i], i
		for ; at >= step && values[at-step] > x; at -= step {
			values[at] = values[at-step]
		}
		values[at] = x
	}
}
