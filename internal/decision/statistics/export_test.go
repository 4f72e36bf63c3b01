package statistics

// Critical is the number below which the U statistic of so many samples a side
// is beyond the confidence, two-sided and without ties; 0 when none is.
func Critical(n1, n2 int, confidence float64) int { return critical(n1, n2, (1-confidence)/2) }
