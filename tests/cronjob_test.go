package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/org/autoloop/tests/long"
)

type podContainer struct {
	Image         string
	Command, Args []string
	Env           []struct {
		Name, Value string
		ValueFrom   any `yaml:"valueFrom"`
	}
	SecurityContext struct {
		AllowPrivilegeEscalation bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool `yaml:"readOnlyRootFilesystem"`
	} `yaml:"securityContext"`
}

type cronJob struct {
	Kind string
	Spec struct {
		ConcurrencyPolicy string `yaml:"concurrencyPolicy"`
		JobTemplate       struct {
			Spec struct {
				Template struct {
					Spec struct {
						InitContainers  []podContainer `yaml:"initContainers"`
						Containers      []podContainer
						SecurityContext struct {
							RunAsNonRoot bool `yaml:"runAsNonRoot"`
							RunAsUser    int  `yaml:"runAsUser"`
						} `yaml:"securityContext"`
					}
				}
			}
		} `yaml:"jobTemplate"`
	}
}

// documentedCronJob is the CronJob of docs/howto/container.md.
func documentedCronJob(t *testing.T) (job cronJob) {
	t.Helper()
	for _, block := range docBlocks(readText(t, "../docs/howto/container.md")) {
		if strings.Contains(block.text, "kind: CronJob") {
			require.NoError(t, yaml.Unmarshal([]byte(block.text), &job))
			return job
		}
	}
	require.Fail(t, "no such job")
	return job
}

// TestCronJob runs what the documented CronJob's containers run, one after the
// other, on a git server that asks for the token: an issue is found, and its
// first gain is pushed.
func TestCronJob(t *testing.T) {
	long.Only(t, long.GitHub)
	t.Parallel()
	h := newHub(t, map[string]string{"value.txt": "10\n"}, "9")
	h.program(onIssue)
	backend := newGitServer(t, "/org/repo", h.bare)
	server := backend.listen(t)
	pod := documentedCronJob(t).Spec.JobTemplate.Spec.Template.Spec
	require.Len(t, pod.InitContainers, 1)
	require.Len(t, pod.Containers, 1)
	assert.True(t, pod.SecurityContext.RunAsNonRoot)
	assert.Equal(t, 1001, pod.SecurityContext.RunAsUser, "the image's user")

	h.dir = t.TempDir()
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(h.dir, 65534, -1), "a volume belongs to somebody else")
	}
	h.env = append(h.env, "GITHUB_SERVER_URL="+server, "PATH="+binaries+":"+os.Getenv("PATH"))
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		assert.Equal(t, "ghcr.io/org/autoloop:v1", c.Image)
		assert.True(t, c.SecurityContext.ReadOnlyRootFilesystem)
		for _, v := range c.Env {
			assert.Equal(t, v.Name == "GITHUB_TOKEN", v.ValueFrom != nil,
				"%s: only the token comes from the secret", v.Name)
		}
		require.Equal(t, []string{"bash", "-euc"}, c.Command)
		require.Len(t, c.Args, 1)
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", c.Args[0])
		cmd.Dir, cmd.Env = h.dir, h.env
		a := h.answer(cmd)
		require.Zero(t, a.code, "%s\n%s", a.stdout, a.stderr)
	}
	assert.NotZero(t, backend.allowed.Load())
	assert.NoDirExists(t, filepath.Join(h.dir, ".git"), "git trusts no repository at the top of a volume")
	config := readText(t, filepath.Join(h.dir, "repository", ".git", "config"))
	assert.NotContains(t, config, hubToken)
	assert.Equal(t, "9", h.run(h.bare, "git", "show", "autoloop/p:value.txt"))
}
