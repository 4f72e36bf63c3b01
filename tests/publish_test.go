package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/org/autoloop/tests/long"
)

// releaseTools are gh and docker as .ci/publish uses them, with their state in
// $STATE. The change number $FAIL of them fails: before it is made, or with
// FAIL_AFTER=1 after that.
const releaseTools = `#!/usr/bin/env bash
set -euo pipefail
change() {
  local n; n=$(($(cat "$STATE/changes" 2>/dev/null || echo 0) + 1)); echo "$n" >"$STATE/changes"
  if [ "$n" = "${FAIL:-}" ] && [ -z "${FAIL_AFTER:-}" ]; then echo "HTTP 403" >&2; exit 1; fi
  "$@"
  if [ "$n" = "${FAIL:-}" ]; then echo "HTTP 502" >&2; exit 1; fi
}
put() { echo "$2" >"$STATE/$1"; }
args=" $* "
case "$(basename "$0")$args" in
"gh api --paginate repos/org/autoloop/releases "*) cat "$STATE/releases" ;;
"gh api repos/org/autoloop/git/matching-refs/"*) cat "$STATE/tag" 2>/dev/null || true ;;
"gh api repos/org/autoloop/git/refs/tags/v1 -X DELETE "*) change rm "$STATE/tag" ;;
"gh api repos/org/autoloop/git/refs/tags/v1 -X PATCH "*) sha=${args##*-f sha=}; change put tag "${sha%% *}" ;;
"gh api repos/org/autoloop/git/refs -f ref=refs/tags/v1 "*) sha=${args##*-f sha=}; change put tag "${sha%% *}" ;;
"gh release edit "*) change put public "$3" ;;
"docker buildx imagetools inspect "*) cat "$STATE/image-${4##*:}" 2>/dev/null || exit 1 ;;
"docker buildx imagetools create --tag "*) change put "image-${5##*:}" "${6##*@}" ;;
*) echo "not known: $0$args" >&2; exit 9 ;;
esac
`

// published is what people see of the releases: the moving tag of git and of the
// image, and the release that became public.
type published struct{ tag, image, public string }

// publishing runs .ci/publish for a tag.
type publishing struct {
	t   *testing.T
	dir string
	tag string
}

func newPublishing(t *testing.T, tag string, before published, releases ...string) *publishing {
	t.Helper()
	p := &publishing{t, t.TempDir(), tag}
	for _, tool := range []string{"gh", "docker"} {
		require.NoError(t, os.WriteFile(filepath.Join(p.dir, tool), []byte(releaseTools),
			0o700)) //nolint:gosec // it is run
	}
	p.put("releases", strings.Join(releases, "\n"))
	if before.tag != "" {
		p.put("tag", before.tag)
		p.put("image-v1", before.image)
	}
	return p
}

func (p *publishing) put(name, text string) {
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text+"\n"), 0o600))
}

func (p *publishing) get(name string) string {
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func (p *publishing) run(variables ...string) (log string, ok bool) {
	cmd := exec.CommandContext(p.t.Context(), "bash", "../.ci/publish")
	cmd.Env = append([]string{
		"PATH=" + p.dir + ":" + os.Getenv("PATH"), "STATE=" + p.dir, "GH_REPO=org/autoloop", "TAG=" + p.tag,
		"COMMIT=new",
		"IMAGE=ghcr.io/org/autoloop", "DIGEST=sha256:new",
	}, variables...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (p *publishing) seen() published {
	return published{p.get("tag"), p.get("image-v1"), p.get("public")}
}

// TestReleaseIsWholeOrNothing lets every change fail, before and after it is made,
// and runs the job again.
func TestReleaseIsWholeOrNothing(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	before, after := published{"old", "sha256:old", ""}, published{"new", "sha256:new", "v1.3.0"}
	for _, late := range []string{"", "1"} {
		for fail := 1; fail <= 4; fail++ {
			t.Run(fmt.Sprintf("change %d, after it is made: %s", fail, late), func(t *testing.T) {
				t.Parallel()
				p := newPublishing(t, "v1.3.0", before, "v1.2.0", "v1.1.0")
				log, ok := p.run(fmt.Sprint("FAIL=", fail), "FAIL_AFTER="+late)
				require.False(t, ok, log)
				want := before
				if fail == 4 && late != "" {
					want.public = "v1.3.0" // it is, whatever the answer was; v1 is the one before
				}
				assert.Equal(t, want, p.seen(), log)
				assert.Contains(t, log, "::error title=Release::v1.3.0 is not public")
				if fail == 1 {
					assert.Contains(t, log, "git push --force origin new:refs/tags/v1", "what a person can do")
				}
				log, ok = p.run()
				assert.True(t, ok, log)
				assert.Equal(t, after, p.seen(), log)
			})
		}
	}
}

func TestMajorTagMoves(t *testing.T) {
	t.Parallel()
	old := published{"old", "sha256:old", ""}
	for name, c := range map[string]struct {
		tag      string
		before   published
		releases []string
		want     published
	}{
		"the newest": {
			"v1.3.0", old,
			[]string{"v1.2.0", "v1.10.0-rc.1"},
			published{"new", "sha256:new", "v1.3.0"},
		},
		"the first":           {"v1.0.0", published{}, nil, published{"new", "sha256:new", "v1.0.0"}},
		"a candidate":         {"v1.3.0-rc.1", old, []string{"v1.2.0"}, published{"old", "sha256:old", "v1.3.0-rc.1"}},
		"a fix of an old one": {"v1.2.1", old, []string{"v1.10.0", "v1.2.0"}, published{"old", "sha256:old", "v1.2.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPublishing(t, c.tag, c.before, c.releases...)
			log, ok := p.run()
			require.True(t, ok, log)
			assert.Equal(t, c.want, p.seen(), log)
			assert.Equal(t, "sha256:new", p.get("image-"+c.tag))
		})
	}
}
