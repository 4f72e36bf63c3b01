package program

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// ScriptRole says what the evaluation script does with a file that it names.
type ScriptRole int

// The roles. Of two in one script the later in this list counts.
const (
	Reads   ScriptRole = iota // reads, compiles or measures it
	Unclear                   // cannot be told
	Runs                      // it is a program of the evaluation, which gives the number
)

// The commands that run a file that they are given, with how.
var (
	shells       = words("sh bash dash zsh ksh fish source .")
	interpreters = words("node nodejs deno bun tsx ts-node python python2 python3 pypy pypy3 ruby perl php lua luajit Rscript julia " +
		"racket guile elixir escript groovy osascript pwsh tclsh jruby octave")
	// wrappers run the command that follows, after options and numbers.
	wrappers = words("time timeout env nice nohup exec command builtin stdbuf taskset setsid xargs sudo chrt ionice perf strace ltrace valgrind " +
		"hyperfine poetry pipenv uv uvx npx pnpx bunx rye hatch pdm bundle rbenv pyenv asdf mise direnv run exec -- ! if then elif else while until do { (")
	// readers read, compile or measure what they are given.
	readers = words("cat wc grep egrep fgrep rg ag sed awk gawk mawk head tail sort uniq cut tr tee diff cmp comm paste join nl od xxd hexdump strings " +
		"du stat ls find file size strip nm objdump readelf cp mv rm mkdir touch chmod ln test [ [[ echo printf read export local declare readonly " +
		"gzip gunzip zcat bzip2 xz zstd brotli tar zip unzip md5sum sha1sum sha256sum cksum b2sum git jq yq cloc tokei scc tput seq expr bc dc " +
		"gcc g++ cc c++ c99 clang clang++ tcc icc ld as ar cpp rustc rustfmt javac kotlinc scalac ghc ocamlc ocamlopt swiftc nim zig dmd ldc2 gfortran " +
		"nvcc fpc gnatmake v crystal dart tsc esbuild swc rollup webpack vite parcel terser uglifyjs cssnano csso sass lessc postcss babel gofmt gofumpt " +
		"staticcheck golangci-lint ruff flake8 pylint mypy pyright black isort pycodestyle pyflakes bandit eslint prettier biome oxlint jshint standard " +
		"shellcheck shfmt hadolint yamllint markdownlint clippy-driver clang-tidy clang-format cppcheck cargo go pytest py.test nosetests jest mocha vitest ava " +
		"tap phpunit rspec ctest dotnet mvn gradle gradlew sbt mix rebar3 stack cabal latexmk pdflatex xelatex lualatex pandoc typst dot " +
		"radon lizard vulture coverage nyc c8 tar curl wget true false set cd pushd popd return exit unset trap wait shift eval for in case esac fi done }")
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// ScriptRoles says what the evaluation does with each file that its script names,
// as far as the script tells it; tracked is that of ScriptFiles.
func (p *Program) ScriptRoles(tracked func(path string) bool) map[string]ScriptRole {
	roles := map[string]ScriptRole{}
	dirs := scriptDirs(scriptWords(p.Script))
	note := func(word string, role ScriptRole) {
		for _, dir := range dirs {
			if file := path.Join(dir, strings.TrimLeft(word, "/")); tracked(file) {
				roles[file] = max(roles[file], role)
			}
		}
	}
	for _, file := range p.ScriptFiles(tracked) {
		roles[file] = Reads
	}
	for _, file := range p.commandFiles(tracked) {
		roles[file] = Runs
	}
	matcher := p.Matcher()
	for _, command := range shellCommands(p.Script) {
		command.roles(note, func(word string) bool {
			return slices.ContainsFunc(dirs, func(dir string) bool { return matcher.Target(path.Join(dir, word)) })
		})
	}
	return roles
}

func (p *Program) commandFiles(tracked func(path string) bool) []string {
	return (&Program{Script: p.WorkerCommand()}).ScriptFiles(tracked)
}

// roles notes what one command does with the words that it is given. What a program
// of the evaluation is given is measured by it, unless the target matches that
// program too: then nobody can tell which of the two is to change.
func (c shellCommand) roles(note func(word string, role ScriptRole), target func(word string) bool) {
	for len(c) > 0 && (wrappers[path.Base(c[0])] || assignment().MatchString(c[0]) || strings.HasPrefix(c[0], "-") || number().MatchString(c[0])) {
		c = c[1:]
	}
	if len(c) == 0 {
		return
	}
	name, given := path.Base(c[0]), c[1:]
	all := func(role ScriptRole) {
		for _, word := range given {
			note(word, role)
			if _, value, has := strings.Cut(word, "="); has {
				note(value, role)
			}
		}
	}
	program := func(file string) {
		note(file, Runs)
		if target(file) {
			all(Unclear)
		}
	}
	switch {
	case shells[name] || interpreters[name]:
		c.interpreted(note, program, all)
	case name == "go" && len(given) > 0 && given[0] == "run":
		for _, word := range given[1:] {
			if strings.HasSuffix(word, ".go") {
				note(word, Runs)
			}
		}
	case name == "make" || name == "gmake":
		for _, file := range []string{"Makefile", "makefile", "GNUmakefile"} {
			note(file, Runs)
		}
		all(Reads)
		for i, word := range given {
			if word == "-f" && i+1 < len(given) {
				note(given[i+1], Runs)
			}
		}
	case name == "npm" || name == "yarn" || name == "pnpm":
		note("package.json", Runs)
		all(Reads)
	case (name == "awk" || name == "gawk" || name == "sed") && slices.Contains(given, "-f"):
		at := slices.Index(given, "-f")
		all(Reads)
		note(strings.Join(given[at+1:min(at+2, len(given))], ""), Runs)
	case strings.Contains(c[0], "/"):
		program(c[0])
	case readers[name]:
		all(Reads)
	default:
		all(Unclear)
	}
}

// interpreted notes the script of an interpreter: the first word that is no option.
func (c shellCommand) interpreted(note func(string, ScriptRole), program func(string), all func(ScriptRole)) {
	given := c[1:]
	if shells[path.Base(c[0])] && slices.Contains(given, "-n") || slices.Contains(given, "--check") {
		all(Reads)
		return
	}
	for i := 0; i < len(given); i++ {
		switch word := given[i]; {
		case word == "-m" && i+1 < len(given):
			module := strings.ReplaceAll(given[i+1], ".", "/")
			note(module+".py", Runs)
			note(module+"/__main__.py", Runs)
			return
		case word == "-c" || word == "-e" || word == "-p" || word == "--eval" || word == "-":
			return // The code is in the script itself.
		case word == "-r" || word == "--require" || word == "--import":
			i++
			if i < len(given) {
				note(given[i], Runs)
			}
		case word == "-W" || word == "-X" || word == "-I" || word == "--loader":
			i++
		case word == "run" || strings.HasPrefix(word, "-"):
		default:
			program(word)
			return
		}
	}
	all(Reads)
}

// Undecided is the problem of a program whose evaluation names a file that a target
// matches, where nobody can tell whether it measures or is measured, or where nothing
// but what measures could change; nil without one. The files are sorted.
func (p *Program) Undecided(files []string) []Problem {
	if p.Evaluation != Metric {
		return nil
	}
	tracked := func(path string) bool { _, found := slices.BinarySearch(files, path); return found }
	roles, m := p.ScriptRoles(tracked), p.Matcher()
	var run []string
	for _, file := range slices.Sorted(maps.Keys(roles)) {
		role := roles[file]
		switch {
		case role == Reads, !tracked(file), !m.Allows(file), m.Literal(file):
		case role == Unclear:
			return []Problem{p.decide(file, "whether it measures or is measured cannot be told")}
		default:
			run = append(run, file)
		}
	}
	if len(run) == 0 || slices.ContainsFunc(p.Targets, func(target Pattern) bool { return target.literal() }) ||
		slices.ContainsFunc(files, func(file string) bool { return m.Allows(file) && !slices.Contains(run, file) }) {
		return nil
	}
	return []Problem{p.decide(run[0], "it runs that file, so that nothing is left that may change")}
}

// decide is the problem of a file with the two lines that solve it.
func (p *Program) decide(file, why string) Problem {
	var targets []string
	for _, target := range p.Targets {
		targets = append(targets, target.Text)
	}
	return Problem{File: p.File, Severity: Error, Message: fmt.Sprintf(
		"the evaluation names %s, which the target matches, and %s; add one line to the frontmatter: `target: [%s]` when it may change, `protect: [%s]` when it may not",
		clip(file), why, strings.Join(append(targets, file), ", "), file)}
}

// Evaluators are the files that the script names and that no candidate may change
// unless a target names them: those that it runs, and those of which nobody can tell
// whether it does.
func (p *Program) Evaluators(tracked func(path string) bool) []string {
	var list []string
	for file, role := range p.ScriptRoles(tracked) {
		if role != Reads {
			list = append(list, file)
		}
	}
	slices.Sort(list)
	return list
}
