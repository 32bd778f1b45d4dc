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

// publicNames match such a pattern but hold no secret.
var publicNames = map[string]bool{"GPG_KEY": true, "SSH_AUTH_SOCK": true, "OLD_PWD": true, "GIT_ASKPASS": true, "SSH_ASKPASS": true}

// Names selects the variables that hold secrets.
type Names struct{ patterns []namePattern }

// namePattern is a pattern in upper case. All patterns are matched against a whole environment before each session starts, so
// the usual patterns, a word with stars around it, are matched as that word.
type namePattern struct {
	text                 string
	word                 string // word and empty if the pattern is more complex
	anyPrefix, anySuffix bool   // a star: any text may precede or follow
}

// NewNames compiles patterns: * matches any text, letters match in any case.
func NewNames(patterns []string) Names {
	n := Names{make([]namePattern, 0, len(patterns))}
	for _, p := range patterns {
		n.patterns = append(n.patterns, newNamePattern(strings.ToUpper(p)))
	}
	return n
}

func newNamePattern(text string) namePattern {
	p := namePattern{text: text}
	p.word, p.anyPrefix = strings.CutPrefix(text, "*")
	p.word, p.anySuffix = strings.CutSuffix(p.word, "*")
	if strings.ContainsAny(p.word, `*?[\`) {
		p.word = ""
	}
	return p
}

// match reports whether a name in upper case matches.
func (p *namePattern) match(name string) bool {
	switch {
	case p.word == "" || strings.Contains(name, "/"): // no star matches a slash
		ok, err := path.Match(p.text, name)
		return ok && err == nil
	case p.anyPrefix && p.anySuffix:
		return strings.Contains(name, p.word)
	case p.anyPrefix:
		return strings.HasSuffix(name, p.word)
	case p.anySuffix:
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
	// MinValue is the length from which a value counts as a secret: shorter ones occur by chance.
	MinValue = 6
	// MaxValue bounds the part of a longer value that counts as the secret: its start.
	MaxValue = 4096
)

// publicValues are common values that are no secrets, of variables with such names.
var publicValues = map[string]bool{"enabled": true, "disabled": true, "required": true, "optional": true, "default": true, "github": true}

// IsSecretValue reports whether to mask a variable's value wherever it occurs: it is long enough, and neither a settings
// word nor a path.
func IsSecretValue(value string) bool {
	return len(value) >= MinValue && !publicValues[strings.ToLower(value)] && !isPath(value)
}

// isPath reports whether a value names a file, as in DEPLOY_KEY=/home/me/.ssh/id. A base64 text may also start with a
// slash, but rarely has two slashes each followed by a letter.
func isPath(v string) bool {
	if len(v) > 256 || !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "~/") && !strings.HasPrefix(v, "./") {
		return false
	}
	return !strings.ContainsAny(v, "+= \n") && (strings.HasPrefix(v, "~/") || strings.HasPrefix(v, "./") || strings.Count(v, "/") >= 3)
}
