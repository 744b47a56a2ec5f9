package ignore

import (
	"os"
	"path/filepath"
	"strings"
)

// Env is where git's configuration outside of a repository is. A field that is
// empty names nothing.
type Env struct {
	Home       string // the user's home directory
	ConfigHome string // $XDG_CONFIG_HOME; empty means .config in Home
	System     string // the configuration file of the machine
	Extra      *List  // patterns for the paths below the root, which outrank all others; nil means none
}

// SystemEnv returns the Env of this process.
func SystemEnv() Env {
	home, _ := os.UserHomeDir() // without one there is no configuration of the user
	return Env{Home: home, ConfigHome: os.Getenv("XDG_CONFIG_HOME"), System: "/etc/gitconfig"}
}

func (e Env) configHome() string {
	if e.ConfigHome == "" && e.Home != "" {
		return filepath.Join(e.Home, ".config")
	}
	return e.ConfigHome
}

// userFiles returns the configuration files outside of a repository, the
// weakest first.
func (e Env) userFiles() []string {
	files := []string{e.System}
	if dir := e.configHome(); dir != "" {
		files = append(files, filepath.Join(dir, "git", "config"))
	}
	if e.Home != "" {
		files = append(files, filepath.Join(e.Home, ".gitconfig"))
	}
	return files
}

// config is what matters here of git's configuration.
type config struct {
	excludesFile string // as written
	hasExcludes  bool
	ignoreCase   bool
	sha256       bool
	worktree     bool // config.worktree counts
}

// maxIncludes bounds how deep configuration files include each other, as git
// does.
const maxIncludes = 10

// read adds the settings of a configuration file, and of those it includes. A
// file that is missing or broken adds what was read of it.
func (c *config) read(l *loader, env Env, path string, depth int) {
	if path == "" || depth > maxIncludes {
		return
	}
	text, ok := l.file(path)
	if !ok {
		return
	}
	parseConfig(string(text), func(section, key, value string, bare bool) {
		truth := bare || value != "" && strings.Contains(" true yes on 1 ", " "+strings.ToLower(value)+" ")
		switch section + "." + key {
		case "core.excludesfile":
			c.excludesFile, c.hasExcludes = value, true
		case "core.ignorecase":
			c.ignoreCase = truth
		case "extensions.objectformat":
			c.sha256 = strings.EqualFold(value, "sha256")
		case "extensions.worktreeconfig":
			c.worktree = truth
		case "include.path":
			c.read(l, env, env.expand(value, filepath.Dir(path)), depth+1)
		}
	})
}

// expand returns the path that a setting names: ~/ is the home directory, and
// a relative path is below dir.
func (e Env) expand(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(e.Home, rest)
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// parseConfig calls set for each setting of a configuration file, in order,
// with section and key in lower case. A section with a subsection is called
// "section.subsection" and does not concern us. bare says that the key has no
// "=". It stops at the first line that git would not understand.
func parseConfig(text string, set func(section, key, value string, bare bool)) {
	section := ""
	p := strings.TrimPrefix(text, "\ufeff")
	for {
		p = strings.TrimLeft(p, " \t\r\n")
		switch {
		case p == "":
			return
		case p[0] == '#' || p[0] == ';':
			_, p, _ = strings.Cut(p, "\n")
		case p[0] == '[':
			head, rest, ok := cutSection(p[1:])
			if !ok {
				return
			}
			section, p = strings.ToLower(head), rest
		default:
			n := strings.IndexFunc(p, func(r rune) bool {
				return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			})
			if n == 0 {
				return
			}
			if n < 0 {
				n = len(p)
			}
			key := strings.ToLower(p[:n])
			p = strings.TrimLeft(p[n:], " \t")
			if !strings.HasPrefix(p, "=") {
				set(section, key, "", true)
				if p != "" && p[0] != '\n' && p[0] != '\r' && p[0] != '#' && p[0] != ';' {
					return
				}
				continue
			}
			value, rest, ok := cutValue(p[1:])
			if !ok {
				return
			}
			set(section, key, value, false)
			p = rest
		}
	}
}

// cutSection reads a section's name up to its "]", which may stand in the
// quotes of a subsection.
func cutSection(p string) (name, rest string, ok bool) {
	quoted := false
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\n':
			return "", "", false
		case quoted && p[i] == '\\':
			i++
		case p[i] == '"':
			quoted = !quoted
		case p[i] == ']' && !quoted:
			return strings.TrimSpace(p[:i]), p[i+1:], true
		}
	}
	return "", "", false
}

// cutValue reads a value to the end of its line: quotes, escapes, comments and
// lines that go on after a backslash.
func cutValue(p string) (value, rest string, ok bool) {
	var b strings.Builder
	quoted, spaces := false, 0
	p = strings.TrimLeft(p, " \t")
	for i := 0; i < len(p); i++ {
		ch := p[i]
		switch {
		case ch == '\n':
			return b.String(), p[i+1:], !quoted
		case !quoted && (ch == ' ' || ch == '\t' || ch == '\r'):
			spaces++ // counts only if something follows
			continue
		case !quoted && (ch == '#' || ch == ';'):
			_, rest, _ = strings.Cut(p[i:], "\n")
			return b.String(), rest, true
		}
		b.WriteString(strings.Repeat(" ", spaces))
		spaces = 0
		switch ch {
		case '"':
			quoted = !quoted
		case '\\':
			if i++; i == len(p) {
				return b.String(), "", true
			}
			switch p[i] {
			case '\n':
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'b':
				b.WriteByte('\b')
			case '\\', '"':
				b.WriteByte(p[i])
			default:
				return "", "", false
			}
		default:
			b.WriteByte(ch)
		}
	}
	return b.String(), "", !quoted
}
