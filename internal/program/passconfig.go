package program

import (
	"fmt"
	"strings"
)

// ToolConfig is the configuration that a tool keeps outside of the repository:
// registries, mirrors, certificates.
type ToolConfig struct {
	// Tool is the word that `pass-config` has for it.
	Tool string
	// Variable names its file; "" for a tool that has no such variable.
	Variable string
	// Files are where it is in a home, with slashes.
	Files []string
}

// ToolConfigs are all that a program may ask for. It is a closed list: with
// paths of its own a program could ask for keys and logins.
func ToolConfigs() []ToolConfig {
	return []ToolConfig{
		{"pip", "PIP_CONFIG_FILE", []string{".config/pip/pip.conf", ".pip/pip.conf"}},
		{"uv", "UV_CONFIG_FILE", []string{".config/uv/uv.toml"}},
		{"npm", "NPM_CONFIG_USERCONFIG", []string{".npmrc"}},
		{"yarn", "", []string{".yarnrc.yml", ".yarnrc"}},
		{"go", "GOENV", []string{".config/go/env"}},
		{"bundler", "BUNDLE_USER_CONFIG", []string{".bundle/config"}},
		{"maven", "", []string{".m2/settings.xml"}},
		{"conda", "CONDARC", []string{".condarc"}},
		{"nuget", "", []string{".nuget/NuGet/NuGet.Config"}},
		{"curl", "", []string{".curlrc"}},
	}
}

// tool is the word for a tool whose configuration the evaluation is given.
func (v value) tool() (string, error) {
	var known []string
	for _, one := range ToolConfigs() {
		known = append(known, one.Tool)
	}
	tool, err := oneOf(known...)(v)
	if err != nil {
		err = fmt.Errorf("%q is no tool whose configuration can be passed on; give some of %s", clip(v.text),
			strings.Join(known, ", "))
	}
	return tool, err
}
