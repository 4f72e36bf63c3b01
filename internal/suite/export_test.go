package suite

// Failures lists the rows of the table.
func Failures() (list []Failure) {
	for _, row := range failures {
		list = append(list, row.what)
	}
	return list
}
