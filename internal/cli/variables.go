package cli

// variable is one of the environment that the commands read, or that they set for
// agents and evaluations.
type variable struct{ name, meaning string }

// variables are all of them but the keys and logins of coding agents, which `iterate
// agents` names, in groups.
func variables() []struct {
	title string
	list  []variable
} {
	return []struct {
		title string
		list  []variable
	}{
		{"What runs", []variable{
			{"AUTOLOOP_PROGRAM", "the program, as `--program`"},
			{"AUTOLOOP_AGENT", "who proposes where neither the program nor `--agent` says"},
			{"AUTOLOOP_DIR", "where autoloop.json, transcripts and what evaluations leave are, as `--dir`"},
			{"AUTOLOOP_PAUSED", "`true` stops every program; empty, `false`, `0`, `no` and `off` do not"},
			{"AUTOLOOP_IF_DUE", "`true` is `iterate propose --if-due`"},
			{"AUTOLOOP_ISOLATION", "`required` or `off` for all programs that say `isolation: auto`"},
		}},
		{"The agent models", []variable{
			{"AUTOLOOP_MODELS_URL", "the base address of the endpoint; `https`, or `http` on this machine alone"},
			{"AUTOLOOP_MODELS_KEY", "its key; none is sent when unset"},
			{"AUTOLOOP_MODELS_API", "`openai` or `anthropic`; seen from the address when unset"},
		}},
		{"Commits", []variable{
			{"AUTOLOOP_GIT_NAME", "who makes commits, with AUTOLOOP_GIT_EMAIL"},
			{"AUTOLOOP_GIT_EMAIL", "the address of AUTOLOOP_GIT_NAME"},
			{"AUTOLOOP_SIGN", "`ssh` or `gpg` signs them with the key of git's own configuration"},
			{"AUTOLOOP_SIGN_OFF", "`true` adds a Signed-off-by line"},
		}},
		{"GitHub", []variable{
			{"GITHUB_REPOSITORY", "the repository as owner/name, as `--repo`"},
			{"GITHUB_TOKEN", "the token"},
			{"GH_TOKEN", "the token, where GITHUB_TOKEN is not set"},
			{"GITHUB_API_URL", "the address of the API"},
			{"GITHUB_SERVER_URL", "the address of the server"},
			{"AUTOLOOP_GITHUB_PATIENCE", "how long one call waits for limits and between attempts (`2m`)"},
			{"AUTOLOOP_GITHUB_TIMEOUT", "how long one request may take (`30s`)"},
			{"AUTOLOOP_PAGE_URL", "the address of the page, for links and pictures"},
		}},
		{"In a job of GitHub Actions", []variable{
			{"GITHUB_ACTIONS", "`true` makes outputs, annotations and a summary"},
			{"GITHUB_EVENT_NAME", "what started the workflow"},
			{"GITHUB_EVENT_PATH", "the file with that event"},
			{"GITHUB_OUTPUT", "the file for outputs"},
			{"GITHUB_STEP_SUMMARY", "the file for the summary"},
			{"GITHUB_RUN_ID", "the number of the run, for its identity and for links"},
			{"GITHUB_RUN_ATTEMPT", "its attempt"},
			{"GITHUB_WORKSPACE", "the directory that annotations name files from"},
			{"RUNNER_TEMP", "a directory that isolated commands do not see"},
			{"AUTOLOOP_ANNOTATIONS", "a file for annotations instead of standard error"},
		}},
		{"The machine", []variable{
			{"PATH", "where programs are"},
			{"HOME", "your home, for caches, logins and configuration that commands are given"},
			{"TMPDIR", "the directory of temporary files"},
			{"XDG_STATE_HOME", "where `autoloop` is, the directory of autoloop.json and transcripts"},
			{"XDG_RUNTIME_DIR", "the same without a home"},
			{"XDG_CACHE_HOME", "where caches are"},
			{"LocalAppData", "where caches are on Windows"},
			{"NO_COLOR", "no colors"},
			{"TERM", "`dumb` is a terminal without colors and moving lines"},
		}},
		{"Set for agents and evaluations", []variable{
			{"AUTOLOOP", "`true`"},
			{"AUTOLOOP_RESULT", "evaluations: the file for the result, which only the script's shell has"},
			{"AUTOLOOP_PROMPT", "`agent: command`: a file with the prompt"},
			{"AUTOLOOP_ITERATION", "`agent: command`: the number of the iteration"},
			{"AUTOLOOP_PROPOSAL", "`agent: command`: the number of the proposal in the iteration, from 1"},
			{"AUTOLOOP_MODEL", "`agent: command`: the model that `model:` or `--model` names"},
			{"AUTOLOOP_SKILL", "executors: the directory of the skill"},
			{"AUTOLOOP_SERVER", "executors: the address of the server that `start` began"},
			{"PORT", "the command of `start`: the port to listen on"},
			{"HOME, TMPDIR", "empty directories that go when the command ends"},
			{"GIT_TERMINAL_PROMPT", "`0`: git asks nothing"},
		}},
		{"In the workflows that init writes", []variable{
			{"AUTOLOOP_TOKEN", "a secret: a token of an App or a person, whose pushes start CI"},
			{"AUTOLOOP_MODEL", "a variable: the model, where a program does not say"},
		}},
	}
}
