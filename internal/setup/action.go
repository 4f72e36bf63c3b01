package setup

import (
	"cmp"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/misuse"
)

// Origin is where the running binary came from: the repository, its release and
// its commit, "" for what is not known.
type Origin struct {
	Repository, Version, Commit string
}

// defaultAction is what our workflows name.
const defaultAction = "org/autoloop@v1"

var (
	// actionName is OWNER/NAME@REF, as `uses:` has it.
	actionName = lazyregexp.New(`^[A-Za-z0-9._-]+/[A-Za-z0-9._/-]+@[A-Za-z0-9._/-]+$`)
	// usesLine is a use of our action in a workflow of ours, with the remark
	// behind it: a pin that init chose by itself has its release there.
	usesLine = lazyregexp.New(`(?m)^ +(?:- )?uses: (\S+@\S+)( # \S+)?\n(?: +id: .*\n)?(?: +if: .*\n)? +with:\n +mode: `)
	// release is no pseudo-version, which Go calls a commit without a tag.
	release  = lazyregexp.New(`^v\d+\.\d+\.\d+(-[A-Za-z][0-9A-Za-z.-]*)?$`)
	commitID = lazyregexp.New(`^[0-9a-f]{40}$`)
)

// pinned is the action of the binary's own source: its commit, with the release
// as a remark, or its release where the commit is not known.
func (o Origin) pinned() (uses, remark string) {
	repository, version := cmp.Or(o.Repository, "org/autoloop"), o.Version
	if !release().MatchString(version) {
		version = ""
	}
	switch {
	case commitID().MatchString(o.Commit):
		return repository + "@" + o.Commit, " # " + cmp.Or(version, "unreleased")
	case version != "":
		return repository + "@" + version, " # " + version
	default:
		return strings.Replace(defaultAction, "org/autoloop", repository, 1), ""
	}
}

// actionOf is what the workflows of a repository use: as asked for, else what is
// there unless an earlier init chose it by itself, else the binary's own source.
func actionOf(root string, o Options) (uses, remark string, err error) {
	if o.Action != "" {
		if !actionName().MatchString(o.Action) {
			return "", "", misuse.Errorf("--action %q is no action: give OWNER/NAME@REF, such as org/autoloop@v1",
				o.Action)
		}
		return o.Action, "", nil
	}
	uses, remark = o.Origin.pinned()
	found := usesLine().FindStringSubmatch(workflowOf(root))
	if found == nil || found[2] != "" || found[1] == defaultAction {
		return uses, remark, nil
	}
	return found[1], "", nil
}

// withAction names the action in every use of it. Where a release is known, its
// binary runs: a commit alone would be built from its source each time.
func withAction(text, uses, remark string) string {
	text = strings.ReplaceAll(text, "uses: "+defaultAction+"\n", "uses: "+uses+remark+"\n")
	if version := strings.TrimPrefix(remark, " # "); release().MatchString(version) &&
		commitID().MatchString(uses[strings.LastIndex(uses, "@")+1:]) {
		text = modeLine().ReplaceAllString(text, "${0}${1}version: "+version+"\n")
	}
	return text
}
