package state_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/internal/history/state"
)

func BenchmarkParseMachine(b *testing.B) {
	data := sample(4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := state.ParseMachine(data); err != nil {
			b.Fatal(err)
		}
	}
}

// sample is a well-formed state file of about size bytes.
func sample(size int) []byte {
	doc := state.New("sample")
	m := doc.Machine()
	m.LastRun, m.IterationCount, m.RecentStatuses = at("2025-01-15T10:30:00Z"), 12,
		[]string{"accepted", "rejected", "accepted"}
	m.InitialMetric, m.BestMetric, m.TargetMetric = value("1.5"), value("1.30625"), value("0.9")
	m.Branch, m.PR, m.Issue = "autoloop/sample", 12, 7
	doc.SetMachine(m)
	text := doc.Render()
	return append(text, strings.Repeat("- a lesson about the past\n", max(0, size-len(text))/26)...)
}

func TestNewFileReadsBack(t *testing.T) {
	_, warnings, err := state.ParseMachine(state.New("x").Render())
	require.NoError(t, err)
	require.Empty(t, warnings)
}
