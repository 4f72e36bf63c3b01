package decision

import (
	"strings"
	"unicode/utf8"
)

func cleanPath(path string) bool {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

func hasDotGit(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if DotGit(part) {
			return true
		}
	}
	return false
}

// DotGit reports whether some file system takes a file of this name for `.git`:
// in any case, by the short name, streams and trailing dots of NTFS, or behind
// the characters that HFS+ ignores. Git refuses the same names.
func DotGit(name string) bool {
	for part := range strings.SplitSeq(name, `\`) {
		if ntfsDotGit(part) {
			return true
		}
	}
	return strings.EqualFold(withoutIgnorable(name), ".git")
}

// ntfsDotGit follows is_ntfs_dotgit in git's path.c.
func ntfsDotGit(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// withoutIgnorable drops what HFS+ ignores when it compares names. A byte that is no
// UTF-8 ends the name, as it does for next_hfs_char in git's utf8.c.
func withoutIgnorable(name string) string {
	var kept strings.Builder
	for i, r := range name {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(name[i:], string(utf8.RuneError)):
			return kept.String()
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		default:
			kept.WriteRune(r)
		}
	}
	return kept.String()
}
