package hosts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"

	"github.com/longterm-dev/longterm/session/api"
)

// Target is a host in ssh(1) notation: [user@]host, or a name of ssh's configuration.
type Target string

// maxTarget bounds a name, in bytes.
const maxTarget = 255

// ParseTarget validates a name. It becomes an argument of ssh, so a leading hyphen would make it an option.
func ParseTarget(s string) (Target, error) {
	bad := ""
	user, host, hasUser := strings.Cut(s, "@")
	switch {
	case s == "":
		bad = "is empty"
	case len(s) > maxTarget:
		bad = fmt.Sprintf("is longer than %d bytes", maxTarget)
	case strings.HasPrefix(s, "-"), strings.HasPrefix(host, "-"):
		bad = "starts with a hyphen"
	case hasUser && (user == "" || host == ""):
		bad = "lacks the user or the host"
	case strings.ContainsAny(s, "/'\"\\`$") || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		bad = "has a character that no host's name has"
	}
	if bad != "" {
		return "", api.Errorf(api.CodeInvalid, "the host's name %q %s", s, bad).
			WithHint("use USER@HOST, HOST, or a name of ~/.ssh/config, which also sets ports")
	}
	return Target(s), nil
}

// Split splits HOST/SESSION; ok is false without a host.
func Split(ref string) (host, session string, ok bool) {
	host, session, ok = strings.Cut(ref, "/")
	if !ok || host == "" || session == "" {
		return "", ref, false
	}
	return host, session, true
}

// fileKey returns the name of the target's files.
func (t Target) fileKey() string {
	sum := sha256.Sum256([]byte(t))
	return hex.EncodeToString(sum[:8])
}
