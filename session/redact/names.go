package redact

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

// Names selects the variables that hold secrets.
type Names struct{ patterns []namePattern }

// namePattern is one in capitals. A whole environment is matched against all of them before each session that is made, so
// those of a word with stars around it, as nearly all are, are looked for as that word.
type namePattern struct {
	text           string
	word           string // text without its outer stars; empty if the pattern is more complex
	before, behind bool   // stars: any text may be there
}

// NewNames compiles patterns: * stands for any text, letters match in any case.
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
	case p.word == "" || strings.Contains(name, "/"): // characters that no star matches
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

// CheckName returns the error of an invalid pattern.
func CheckName(pattern string) error {
	_, err := path.Match(pattern, "")
	return err
}

// Match reports whether a variable of this name holds a secret.
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
	// MaxValue bounds the part of a longer value that counts as the secret: its start.
	MaxValue = 4096
)

// plainValues are common public values of variables with such names.
var plainValues = map[string]bool{"enabled": true, "disabled": true, "required": true, "optional": true, "default": true, "github": true}

// Worth reports whether to mask a variable's value wherever it occurs: long enough, and neither a settings word nor a
// path.
func Worth(value string) bool {
	return len(value) >= MinValue && !plainValues[strings.ToLower(value)] && !isPath(value)
}

// isPath reports whether a value names a file, as in DEPLOY_KEY=/home/me/.ssh/id. A base64 text may also start with a
// slash, but rarely has two slashes each followed by a letter.
func isPath(v string) bool {
	if len(v) > 256 || !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "~/") && !strings.HasPrefix(v, "./") {
		return false
	}
	return !strings.ContainsAny(v, "+= \n") && (strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.Count(v, "/") >= 3)
}
