package process

import (
	"encoding/json"
	"slices"
	"strings"
)

// secretMembers are words in the names of members whose texts are secrets.
var secretMembers = []string{"token", "key", "secret", "password", "access", "refresh", "credential"}

// SecretsIn lists the texts of a JSON document whose names, or those of what
// they are in, say that they are secret. Of anything else there are none.
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
