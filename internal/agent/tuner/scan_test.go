package tuner

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/golden"
)

func TestScanMarks(t *testing.T) {
	golden.Table(t, map[string]string{ // FILE LINE => name=value of every number, ! is an error
		"go typed":           "a.go const rate float64 = 0.5 // tune: 0..1 log-free => !",
		"go type is no name": "a.go var wait time.Duration = 10 // tune: 1..99 => wait=10",
		"go field":           "a.go \t\tRate: 0.5, // how fast; tune: 0..1 => Rate=0.5",
		"python":             "a.py lr: float = 1e-3  # tune: 1e-5..1e-1 log => lr=0.001",
		"python call":        "a.py train(lr=0.1, m=0.9)  # tune: 0..1 => lr[0]=0.1 lr[1]=0.9",
		"shell":              "a.sh export RATE=5 # tune: 1..9 => RATE=5",
		"lisp":               "a.el (define rate 0.5) ; tune: 0..1 => rate=0.5",
		"c block":            "a.c double x = .5; /* tune: 0..1 */ => x=0.5",
		"rust suffix":        "a.rs let x: f64 = 1_000.5_f64; // tune: 0..5000.0 => x=1000.5",
		"c suffix":           "a.c float x = 0.5f; // tune: 0..1 => x=0.5",
		"unit of one letter": "a.yml x: 1B # tune: 0..9 => x=1",
		"unit":               "a.css   --gap: 10px; /* tune: 1..99 */ => gap=10",
		"xml attribute":      `a.xml <p value="3"/> <!-- tune: 1..9 --> => value=3`,
		"json5 key":          `a.json5   "learning-rate": 0.5, // tune: 0..1 => learning-rate=0.5`,
		"yaml list":          "a.yml - 0.5 # tune: 0..1 => value=0.5",
		"yaml negative list": "a.yml - -0.5 # tune: -1..1 => value=-0.5",
		"yaml apostrophe":    "a.yml it's: 3 # don't; tune: 1..9 => s=3",
		"two marks":          "a.c x = 1 /* tune: 0..9 */, y = 2 /* tune: 0..5 */; => x=1 y=2",
		"index is no value":  "a.go w[3] = 0.5 // tune: 0..1 => w=0.5",
		"sum":                "a.go x = y-3 // tune: 0..9 => x=3",
		"exponent":           "a.go w = 2.5e-3*x // tune: 0..1 => w=0.0025",
		"options":            "a.go x = 5 // tune: 1..9, step 2, int => x=5",
		"issue number":       "a.go x = 3 // see #4; tune: 0..5 => x=3",
		"address":            "a.yml x: 4 http://h/1 # tune: 0..5 => x[0]=4 x[1]=1",
		"quoted hash":        `a.yml x: "a # b" 4 # tune: 0..5 => x=4`,
		"prose":              "a.go run(5) // how to tune: see the docs =>",
		"no comment":         "a.go x = 5 tune: 0..9 =>",
		"the word again":     "a.go x = 5 // tune: 0..9; tune: more => x=5",
		"prose alone":        "a.go // tune: numbers like these =>",
		"empty":              "a.go x = 5 // tune: => !",
		"no range":           "a.go x = 5 // tune: 5 => !",
		"reversed":           "a.go x = 5 // tune: 9..1 => !",
		"hex bound":          "a.go x = 5 // tune: 0x1..9 => !",
		"log from zero":      "a.go x = 5 // tune: 0..9 log => !",
		"unknown word":       "a.go x = 5 // tune: 0..9 integer => !",
		"bad step":           "a.go x = 5 // tune: 0..9 step 0 => !",
		"broken step of int": "a.go x = 5 // tune: 0..9 int step 0.5 => !",
		"wide step":          "a.go x = 5 // tune: 0..9 step 10 => !",
		"no whole number":    "a.go x = 5 // tune: 0.2..0.8 int => !",
		"beyond exact":       "a.go x = 5 // tune: 0..1e17 int => !",
		"mark on its own":    "a.go // tune: 0..1 => !",
		"no number":          "a.go x = y // tune: 0..1 => !",
		"hex":                "a.go x = 0x1f // tune: 0..99 => !",
		"version":            "a.go x = v1.2.3 // tune: 0..99 => !",
	}, func(t *testing.T, row string) any {
		file, line, _ := strings.Cut(strings.TrimSuffix(row, " "), " ")
		found, err := ParseFile(file, []byte("first line\n"+line+"\r\n"))
		if err != nil {
			assert.True(t, strings.HasPrefix(err.Error(), file+":2: tune mark: "), err)
			return "!"
		}
		var got []string
		for _, m := range found.Marks {
			got = append(got, strings.TrimPrefix(m.Name, file+":")+"="+shortText(m.Current))
		}
		return strings.Join(got, " ")
	})
}

func TestNamesSurviveMovesAndDoubling(t *testing.T) {
	for _, text := range []string{
		"x = 1 // tune: 0..9\ny = 2 // tune: 0..9\nx = 3 // tune: 0..9\n",
		"\n\ny = 2 // tune: 0..9\n\nx = 1 // tune: 0..9\n// x\nx = 3 // tune: 0..9\n",
	} {
		found, err := ParseFile("a.go", []byte(text))
		require.NoError(t, err)
		values := map[string]float64{}
		for _, mark := range found.Marks {
			values[mark.Name] = mark.Current
		}
		assert.Equal(t, map[string]float64{"a.go:x": 1, "a.go:x#2": 3, "a.go:y": 2}, values)
	}
}

func TestRewriteKeepsStyleAndBytes(t *testing.T) {
	golden.Table(t, map[string]string{ // VALUE LINE
		"float stays float":        "7 x = 6.0 // tune: 0..9",
		"int":                      "7 x = 6 // tune: 0..9 int",
		"large int":                "123456789012345 x = 6 // tune: 0..1e15 int",
		"int mark on a float":      "7 x = 6.0 // tune: 0..9 int",
		"pointed range":            "0.25 x = 1 // tune: 0.0..1.0",
		"small float":              "1e-7 x = 0.1 // tune: 0..1",
		"suffix":                   "0.25 x = 0.5f; // tune: 0..1",
		"quotes":                   `0.25 x="0.5" # tune: 0..1`,
		"quotes and sign":          `0.25 x="-0.5" # tune: -1..1`,
		"sign appears":             "-2 x = 5.0 // tune: -9..9",
		"sign goes":                "2 x = -5.0 // tune: -9..9",
		"plus stays":               "2 x = +5.0 // tune: -9..9",
		"plus becomes minus":       "-2 x = +5.0 // tune: -9..9",
		"minus after an operator":  "-2 x = y-5.0 // tune: -9..9",
		"other bytes, CRLF, latin": "1.5 a\xff\r\n\tx  =\t5.0\t// tune: -9..9\r\nz\x00",
		"no change":                "5 x = 5.00 // tune: -9..9",
	}, func(t *testing.T, row string) any {
		number, before, _ := strings.Cut(row, " ")
		value, err := strconv.ParseFloat(number, 64)
		require.NoError(t, err)
		file, err := ParseFile("a.go", []byte(before))
		require.NoError(t, err)
		require.Len(t, file.Marks, 1)
		return string(file.Rewrite(map[string]float64{"a.go:x": value}))
	})
}

func FuzzScanMarks(f *testing.F) {
	for _, seed := range []string{
		"x = 0.5 // tune: 0..1", "x=+5e-3f; /* tune: 0..9 */ y = -.5 /* tune: -1..1 step 0.1 */",
		"\"a\": \"3\" # tune: 1..9 int log", "x = 'a\\' # tune: 1..2", "- -1 -- tune: -5..5",
		"é = 5 ; tune: 1..9\r\n\x00\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ParseFile("f", []byte(text))
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		values, names := map[string]float64{}, map[string]bool{}
		at := 0
		for _, mark := range file.Marks {
			require.False(t, names[mark.Name], mark.Name)
			names[mark.Name] = true
			require.GreaterOrEqual(t, mark.start, at)
			require.Greater(t, mark.end, mark.start)
			at = mark.end
			require.NoError(t, mark.Validate())
			p := mark.Param
			values[mark.Name] = p.Snap(p.Min+0.37*(p.Max-p.Min), 0.01)
		}
		require.True(t, bytes.Equal(file.Text, file.Rewrite(nil)))
		after := file.Rewrite(values)
		again, err := ParseFile("f", after)
		require.NoError(t, err)
		require.Len(t, again.Marks, len(file.Marks), "%q → %q", text, after)
		for i, mark := range again.Marks {
			require.Equal(t, file.Marks[i].Name, mark.Name)
			require.InDelta(t, values[mark.Name], mark.Current, 0, "%q → %q", text, after)
		}
	})
}
