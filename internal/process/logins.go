package process

import (
	"path/filepath"
	"slices"

	"github.com/org/autoloop/internal/agent/commandline"
)

// logins are where programs keep who somebody is, below a home, beside the
// coding agents. A home is hidden whole; these stay hidden in the parts of it
// that toolchains need.
var logins = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc",
	".config/gh", ".config/gcloud", ".config/git", ".local/share/keyrings",
	".cargo/credentials", ".cargo/credentials.toml", ".gradle/gradle.properties", ".m2/settings.xml",
}

// logins lists those of the user and of root.
func (b *viewBuilder) logins() []string {
	var paths []string
	for _, home := range []string{b.home, "/root"} {
		for _, login := range slices.Concat(logins, commandline.All().Private()) {
			paths = append(paths, filepath.Join(home, filepath.FromSlash(login)))
		}
	}
	return paths
}

func (b *viewBuilder) login(path string) bool {
	return slices.Contains(b.logins(), path)
}
