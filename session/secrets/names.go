package secrets

import (
	"path"
	"strings"
)

// DefaultNames are patterns of variables whose values are secrets.
var DefaultNames = []string{
	"*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*CREDENTIAL*", "*APIKEY*", "*_KEY", "*_PASS", "*_PWD",
	"*_AUTH", "*_COOKIE", "*_DSN", "*_PIN", "*_JWT", "*WEBHOOK*", "DATABASE_URL", "REDIS_URL",
}

// publicNames match such a pattern and hold no secret.
var publicNames = map[string]bool{"GPG_KEY": true, "SSH_AUTH_SOCK": true, "OLD_PWD": true, "GIT_ASKPASS": true, "SSH_ASKPASS": true}

// Names says which variables hold secrets.
type Names struct{ patterns []namePattern }

// namePattern is one in capitals. A whole environment is matched against all of them before each session that is made, so
// those of a word with stars around it, as nearly all are, are looked for as that word.
type namePattern struct {
	text           string
	word           string // text without its outer stars; empty: there is more to match than a word
	before, behind bool   // stars: anything may stand there
}

// NewNames is the patterns in use: * stands for anything, letters match in any case.
func NewNames(patterns []string) Names {
	n := Names{make([]namePattern, 0, len(patterns))}
	for _, p := range patterns {
		n.patterns = append(n.patterns, newNamePattern(strings.ToUpper(p)))
	}
	return n
}

func newNamePattern(text string) namePattern {
	p := namePattern{text: text}
	p.word, p.before = strings.CutPrefix(text, "*")
	p.word, p.behind = strings.CutSuffix(p.word, "*")
	if strings.ContainsAny(p.word, `*?[\`) {
		p.word = ""
	}
	return p
}

func (p *namePattern) match(name string) bool {
	switch {
	case p.word == "" || strings.Contains(name, "/"): // which no star stands for
		ok, err := path.Match(p.text, name)
		return ok && err == nil
	case p.before && p.behind:
		return strings.Contains(name, p.word)
	case p.before:
		return strings.HasSuffix(name, p.word)
	case p.behind:
		return strings.HasPrefix(name, p.word)
	}
	return name == p.word
}

// CheckName says what is wrong with a pattern.
func CheckName(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}

// Match says whether a variable of this name holds a secret.
func (n Names) Match(name string) bool {
	name = strings.ToUpper(name)
	if publicNames[name] {
		return false
	}
	for i := range n.patterns {
		if n.patterns[i].match(name) {
			return true
		}
	}
	return false
}

// Bounds of a value, in bytes.
const (
	// MinValue: what is shorter occurs by chance, and is no secret by value.
	MinValue = 6
	// MaxValue: of what is longer the beginning is the secret.
	MaxValue = 4096
)

// plainValues are of variables with such names, and secret to nobody.
var plainValues = map[string]bool{"enabled": true, "disabled": true, "required": true, "optional": true, "default": true, "github": true}

// Worth says whether a variable's value is worth masking wherever it occurs: long enough, and neither a
// word of settings nor a path.
func Worth(value string) bool {
	return len(value) >= MinValue && !plainValues[strings.ToLower(value)] && !isPath(value)
}

// isPath says that a value names a file, as in DEPLOY_KEY=/home/me/.ssh/id. A base64 text may begin with a
// slash, too: of two slashes and a letter each, few do.
func isPath(v string) bool {
	if len(v) > 256 || !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "~/") && !strings.HasPrefix(v, "./") {
		return false
	}
	return !strings.ContainsAny(v, "+= \n") && (strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.Count(v, "/") >= 3)
}
