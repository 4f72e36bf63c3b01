package history

import "github.com/org/autoloop/internal/metric"

// Target is the target metric that holds: what a person set, until the program
// file says something else than it did then. File is the program file's, nil
// when it names none.
func (b *Summary) Target(file *metric.Value) *metric.Value {
	value, err := metric.ParseValue(b.Settings.Target)
	if err != nil || b.TargetWas != ValueText(file) {
		return file
	}
	return &value
}

// ValueText is a value as records have it, "—" for none. The setting TargetMetricWas
// holds such a text.
func ValueText(v *metric.Value) string {
	return metric.Text(v, "—")
}
