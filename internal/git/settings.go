package git

import (
	"strconv"
)

// Setting is one line of git configuration, such as
// {"http.extraHeader", "…"}.
type Setting struct{ Key, Value string }

// settingVariables hands settings to git through the environment, where a
// secret is in no argument list and a key may have any character in it.
func settingVariables(settings []Setting) []string {
	if len(settings) == 0 {
		return nil
	}
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(settings))}
	for i, s := range settings {
		number := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+number+"="+s.Key, "GIT_CONFIG_VALUE_"+number+"="+s.Value)
	}
	return env
}

// fixedArguments begin every call: whatever the repository, the user and the
// system configure, these hold.
func fixedArguments() []string {
	args := []string{"--no-pager", "--literal-pathspecs"}
	for _, s := range []string{
		// Nothing of the repository's is executed.
		"core.hooksPath=/dev/null",
		"core.fsmonitor=false",
		"core.pager=cat",
		"core.alternateRefsCommand=",
		"log.showSignature=false",
		"commit.gpgSign=false",
		"tag.gpgSign=false",
		"push.gpgSign=false",
		// Nothing but the command itself happens.
		"gc.auto=0",
		"maintenance.auto=false",
		"fetch.recurseSubmodules=false",
		"push.recurseSubmodules=no",
		"submodule.recurse=false",
		"advice.detachedHead=false",
		// Trees are whole, and the same on every machine.
		"core.fileMode=true",
		"core.sparseCheckout=false",
		"core.splitIndex=false",
		"core.untrackedCache=false",
		"core.autocrlf=false",
		"core.safecrlf=false",
		"core.attributesFile=/dev/null",
		"core.protectHFS=true",
		// Output is as it is parsed.
		"core.quotePath=false",
		"color.ui=false",
		"i18n.commitEncoding=UTF-8",
		"i18n.logOutputEncoding=UTF-8",
	} {
		args = append(args, "-c", s)
	}
	return args
}
