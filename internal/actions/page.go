package actions

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/org/autoloop/internal/render/page"
)

// pageWorkflow is the file that `iterate init --pages` writes.
const pageWorkflow = "autoloop-page.yml"

// Page is where the page of a repository is, by the workflow that makes it: on
// GitHub Pages, whose address ends in a slash, or at the workflow whose artifact
// it is, of a private repository; "" without the workflow. AUTOLOOP_PAGE_URL is
// another address of GitHub Pages, such as that of a domain of one's own.
func (s Step) Page(root string) string {
	if !s.Running() {
		return ""
	}
	if _, err := os.Stat(filepath.Join(root, ".github", "workflows", pageWorkflow)); err != nil {
		return ""
	}
	if url := strings.TrimSpace(s.Getenv("AUTOLOOP_PAGE_URL")); strings.HasPrefix(url, "https://") {
		return strings.TrimSuffix(url, "/") + "/"
	}
	server, repository := s.Getenv("GITHUB_SERVER_URL"), s.Getenv("GITHUB_REPOSITORY")
	owner, name, found := strings.Cut(repository, "/")
	switch {
	case !found || server == "":
		return ""
	case server != "https://github.com", s.event().Repository.Private:
		return server + "/" + repository + "/actions/workflows/" + pageWorkflow
	}
	url := "https://" + strings.ToLower(owner) + ".github.io/"
	if !strings.EqualFold(name, owner+".github.io") {
		url += name + "/"
	}
	return url
}

// ProgramPage is where a program's page is on GitHub Pages, or
// at the workflow that makes it.
func (s Step) ProgramPage(root, name string) string {
	base := s.Page(root)
	if !strings.HasSuffix(base, "/") {
		return base
	}
	return base + page.File(name)
}
