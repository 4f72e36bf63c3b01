package evaluation

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// TestTelling: what the reason of a failure quotes, by who printed it.
func TestTelling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ output, want string }{
		"nothing":       {"\n \n", ""},
		"the last line": {"building\nit is broken\n\n", "it is broken"},
		"go compiler": {
			"# example.com/m\n./a.go:3:5: undefined: x\n" +
				"./a.go:9:1: syntax error: non-declaration statement outside function body\n" +
				"FAIL\texample.com/m [build failed]\nFAIL",
			"./a.go:3:5: undefined: x|./a.go:9:1: syntax error: non-declaration statement outside function body|" +
				"FAIL\texample.com/m [build failed]",
		},
		"go test": {
			"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestSum (0.00s)\n" +
				"    a_test.go:12: sum is 3, not 4\nFAIL\nexit status 1\nFAIL\texample.com/m\t0.002s",
			"--- FAIL: TestSum (0.00s)|a_test.go:12: sum is 3, not 4|FAIL",
		},
		"a panic": {
			"panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\n" +
				"main.main()\n\t/x/a.go:5 +0x1d\nexit status 2",
			"panic: runtime error: index out of range [5] with length 3|goroutine 1 [running]:|main.main()",
		},
		"gcc": {
			"a.c: In function 'main':\na.c:3:5: warning: unused variable\n" +
				"a.c:4:12: error: expected ';' before '}' token\nmake: *** [Makefile:2: a] Error 1",
			"a.c:4:12: error: expected ';' before '}' token|make: *** [Makefile:2: a] Error 1",
		},
		"the linker": {
			"/usr/bin/ld: /tmp/a.o: in function `main':\n" +
				"a.c:(.text+0x5): undefined reference to `helper'\ncollect2: error: ld returned 1 exit status",
			"a.c:(.text+0x5): undefined reference to `helper'|collect2: error: ld returned 1 exit status",
		},
		"rustc": {
			"   Compiling m v0.1.0\nerror[E0425]: cannot find value `x` in this scope\n" +
				" --> src/lib.rs:3:5\n  |\n3 |     x\n\nerror: could not compile `m` (lib) due to 1 previous error",
			"error[E0425]: cannot find value `x` in this scope|--> src/lib.rs:3:5|" +
				"error: could not compile `m` (lib) due to 1 previous error",
		},
		"cargo test": {
			"running 2 tests\ntest a ... ok\ntest b::sums ... FAILED\n\n---- b::sums stdout ----\n\n" +
				"thread 'b::sums' panicked at src/lib.rs:9:9:\nassertion `left == right` failed\n  left: 3\n\n" +
				"test result: FAILED. 1 passed; 1 failed",
			"thread 'b::sums' panicked at src/lib.rs:9:9:|assertion `left == right` failed|left: 3",
		},
		"pytest": {
			"F                    [100%]\n=== FAILURES ===\n    def test_sum():\n" +
				">       assert sum() == 4\nE       assert 3 == 4\n\ntests/test_a.py:4: AssertionError\n" +
				"=== short test summary info ===\nFAILED tests/test_a.py::test_sum - assert 3 == 4\n1 failed in 0.02s",
			"E       assert 3 == 4|tests/test_a.py:4: AssertionError|=== short test summary info ===",
		},
		"python": {
			"Traceback (most recent call last):\n  File \"run.py\", line 9, in <module>\n    solve()\n" +
				"  File \"solve.py\", line 3, in solve\n    return x\nNameError: name 'x' is not defined",
			"NameError: name 'x' is not defined",
		},
		"node": {
			"/x/index.js:3\nfoo(\n    ^\n\nSyntaxError: Unexpected end of input\n" +
				"    at wrapSafe (node:internal)\n\nNode.js v18.0.0",
			"SyntaxError: Unexpected end of input|at wrapSafe (node:internal)|Node.js v18.0.0",
		},
		"jest": {"FAIL ./a.test.js\n  ● adds › two numbers\n\n    expect(received).toBe(expected)\n\n" +
			"Tests: 1 failed", "● adds › two numbers|expect(received).toBe(expected)|Tests: 1 failed"},
		"a time at the end": {"the sum is wrong\nfinished in 0.02s\nexit status 1", "the sum is wrong"},
		"tsc": {
			"src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
			"src/a.ts(3,5): error TS2304: Cannot find name 'x'.",
		},
		"colours":                {"\x1b[31merror\x1b[0m: it is broken\ngoodbye", "error: it is broken|goodbye"},
		"a test that only warns": {"0 errors\nerrors: none\nfinished", "finished"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, strings.Join(telling(c.output, ""), "|"))
			assert.Equal(t, c.want, strings.Join(telling("", c.output), "|"), "on either stream")
		})
	}
}

// TestMostTellingLine comes first: what compilers say goes before what tests say, that before any
// error, whichever comes first; and standard error before standard output.
func TestMostTellingLine(t *testing.T) {
	t.Parallel()
	ranks := []string{
		"./a.go:3:5: undefined: x", "--- FAIL: TestA (0.00s)", "fatal: it is broken",
		"make: *** [all] Error 1", "goodbye",
	}
	for i, first := range ranks {
		for _, second := range ranks[i+1:] {
			for _, output := range []string{first + "\n" + second, second + "\n" + first + "\n"} {
				want := first
				if i == len(ranks)-1 {
					want = strings.Split(strings.TrimSpace(output), "\n")[1]
				}
				assert.Equal(t, want, telling(output, "")[0])
			}
			assert.Equal(t, first, telling(second, first)[0], "also on the other stream")
		}
		assert.Equal(t, first, telling(first, "another: "+first)[0], "the first stream of two that tell as much")
	}
}

// TestTellingIsBounded: few lines, each once and of a bounded length, of the end of what
// was printed.
func TestTellingIsBounded(t *testing.T) {
	t.Parallel()
	line := func(i int) string { return fmt.Sprintf("a.c:%d:1: error: x", i) }
	for name, c := range map[string]struct {
		output string
		want   []string
	}{
		"three of five": {
			line(1) + "\n" + line(2) + "\n" + line(3) + "\n" + line(4) + "\n" + line(5),
			[]string{line(1), line(2), line(3)},
		},
		"one that returns": {line(1) + "\n" + line(1) + "\n" + line(2), []string{line(1), line(2)}},
		"what follows it": {"--- FAIL: TestA\n    a_test.go:1: a\n    a_test.go:2: b\n    a_test.go:3: c\n" +
			"    a_test.go:4: d", []string{"--- FAIL: TestA", "a_test.go:1: a", "a_test.go:2: b"}},
		"a long line": {
			"a.c:1:1: error: " + strings.Repeat("x", 300),
			[]string{"a.c:1:1: error: " + strings.Repeat("x", 183) + "…"},
		},
		"line ends":    {line(1) + "\r\n" + line(2) + "\r\n", []string{line(1), line(2)}},
		"too long ago": {line(1) + "\n" + strings.Repeat("ok\n", 1<<19) + "goodbye\n", []string{"goodbye"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, telling(c.output))
		})
	}
	assert.Empty(t, telling())
	assert.Empty(t, telling("", " \n"))
}

func FuzzTelling(f *testing.F) {
	f.Add("--- FAIL: TestA\n\ta_test.go:1: x")
	f.Fuzz(func(t *testing.T, output string) {
		lines := telling(output)
		assert.LessOrEqual(t, len(lines), maxLines)
		for _, line := range lines {
			assert.NotEmpty(t, strings.TrimSpace(line))
			assert.NotContains(t, line, "\n")
			assert.LessOrEqual(t, utf8.RuneCountInString(line), maxLine)
		}
	})
}
