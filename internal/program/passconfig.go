package program

import (
	"fmt"
	"slices"
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

func setPassConfig(p *Program, v value) error {
	items, err := v.words("pip, npm")
	if err != nil {
		return err
	}
	known := ToolConfigs()
	for _, item := range items {
		tool := strings.ToLower(strings.TrimSpace(item.text))
		if !slices.ContainsFunc(known, func(c ToolConfig) bool { return c.Tool == tool }) {
			names := make([]string, len(known))
			for i, c := range known {
				names[i] = c.Tool
			}
			return fault{item.line, fmt.Errorf("%q is no tool whose configuration can be passed on; give some of %s",
				clip(tool), strings.Join(names, ", "))}
		}
		if !slices.Contains(p.PassConfig, tool) {
			p.PassConfig = append(p.PassConfig, tool)
		}
	}
	slices.Sort(p.PassConfig)
	return nil
}

// passConfigMeaning makes the tools part of what a number means: another mirror
// may serve other versions. The files' content is not part of it, since it may
// be a login that is renewed.
func passConfigMeaning(p *Program, m *Meaning) {
	if len(p.PassConfig) == 0 {
		return
	}
	if m.More == nil {
		m.More = map[string]any{}
	}
	m.More["PassConfig"] = p.PassConfig
}
