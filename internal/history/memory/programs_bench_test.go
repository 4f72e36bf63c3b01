package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/org/autoloop/internal/history/memory"
)

// BenchmarkPrograms loads a thousand program files, and merely reads the same
// files one after the other.
func BenchmarkPrograms(b *testing.B) {
	const count = 1000
	dir := filepath.Join(b.TempDir(), ".autoloop/programs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	text := "---\nschedule: every 6h\nmetric_direction: lower # less is better\ntarget-metric: 0.5\n---\n\n# Speed\n\n" +
		"## Goal\n\nMake it fast. Lower is better.\n\n" +
		"## Target\n\n- `src/*.go`\n\n## Evaluation\n\n```bash\nsh eval.sh\n```\n"
	var files []string
	for i := range count {
		file := filepath.Join(dir, fmt.Sprintf("p%04d.md", i))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
		files = append(files, file)
	}
	root := filepath.Dir(filepath.Dir(dir))
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			programs, err := memory.Programs{Root: root}.Load(false)
			if err != nil || len(programs) != count || programs[0].Err() != nil {
				b.Fatal(err, len(programs))
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			for _, file := range files {
				if _, err := os.ReadFile(file); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}
