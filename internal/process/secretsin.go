package process

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/lazyregexp"
)

// secretMembers are words in the names of members whose texts are secrets.
var secretMembers = []string{"token", "key", "secret", "password", "access", "refresh", "credential"}

// SecretsIn lists the texts of a JSON document whose names, or those of what
// they are in, say that they are secret. Nothing else is.
func SecretsIn(text []byte) []string {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return nil
	}
	return secretsBelow(value, false)
}

func secretsBelow(value any, secret bool) (found []string) {
	switch v := value.(type) {
	case string:
		if secret {
			found = append(found, v)
		}
	case []any:
		for _, item := range v {
			found = append(found, secretsBelow(item, secret)...)
		}
	case map[string]any:
		for name, item := range v {
			name = strings.ToLower(name)
			named := slices.ContainsFunc(secretMembers, func(word string) bool { return strings.Contains(name, word) })
			found = append(found, secretsBelow(item, secret || named)...)
		}
	}
	return found
}

// setting is a line of a configuration file, as `name = value`, `name: value` or
// `<name>value</name>`.
var setting = lazyregexp.New(`^\s*(?:<([\w.-]+)>([^<]*)</|([^=\s]+?)\s*[=:]\s+(.*)|([^=\s]+?)\s*=\s*(.*))`)

// SecretsInSettings finds what is secret in a configuration file, such as
// `.npmrc` or `pip.conf`: values whose names say so, and passwords in addresses.
func SecretsInSettings(text []byte) []string {
	var found []string
	for line := range strings.Lines(string(text)) {
		for word := range strings.FieldsSeq(line) {
			if at := strings.Index(word, "://"); at > 0 {
				from := strings.LastIndexAny(word[:at], `"'=>`) + 1
				name, password := loginIn(strings.Trim(word[from:], `"',<>`))
				if login := cmp.Or(password, name); login != "" { // tokens stand there alone
					found = append(found, login)
				}
			}
		}
		parts := setting().FindStringSubmatch(strings.TrimSpace(line))
		if parts == nil {
			continue
		}
		name, value := strings.ToLower(parts[1]+parts[3]+parts[5]),
			strings.Trim(strings.TrimSpace(parts[2]+parts[4]+parts[6]), `"'`)
		if strings.HasSuffix(name, "_auth") || secretName(name) {
			found = append(found, value)
		}
	}
	return found
}

// loginIn is who logs in by an address, such as a proxy's.
func loginIn(address string) (name, password string) {
	parsed, err := url.Parse(strings.TrimSpace(address))
	if err != nil || parsed.User == nil {
		return "", ""
	}
	password, _ = parsed.User.Password()
	return parsed.User.Username(), password
}
