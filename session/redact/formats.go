package redact

import "bytes"

// class is a set of bytes.
type class [256]bool

func classOf(chars string) (c class) {
	for i := 0; i < len(chars); i++ {
		c[chars[i]] = true
	}
	return c
}

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + upper + lower
)

var (
	upperDigits = classOf(upper + digits)
	letters     = classOf(alnum)
	words       = classOf(alnum + "_")
	dashed      = classOf(alnum + "_-")
	dotted      = classOf(alnum + "_-.")
	header      = classOf(alnum + "._~+/=-")
	hexDigits   = classOf(digits + "abcdef")
	inPEM       = classOf(alnum + "+/=:,- \\\r\n") // in JSON a key's lines end with a backslash and a letter
	inUser      = func() (c class) {               // of user and password in a URL
		for i := '!'; i <= '~'; i++ {
			c[i] = i != '/' && i != '@' && i != '"' && i != '\'' && i != '<' && i != '>'
		}
		return c
	}()
)

// format is a form that only tokens have: a beginning, and a run of characters.
type format struct {
	name, prefix string
	run          *class
	least        int    // characters of the run that there have to be
	digit        bool   // requires a digit: a name with hyphens has none
	within       string // occurs in the run, within its first 1 KiB
	user         bool   // of a URL: the run is user:password, up to an @, and only the password is the secret
}

var formats = []format{
	{name: "AWS key", prefix: "AKIA", run: &upperDigits, least: 12},
	{name: "AWS key", prefix: "ASIA", run: &upperDigits, least: 12},
	{name: "GitHub", prefix: "ghp_", run: &letters, least: 16},
	{name: "GitHub", prefix: "gho_", run: &letters, least: 16},
	{name: "GitHub", prefix: "ghu_", run: &letters, least: 16},
	{name: "GitHub", prefix: "ghs_", run: &letters, least: 16},
	{name: "GitHub", prefix: "ghr_", run: &letters, least: 16},
	{name: "GitHub", prefix: "github_pat_", run: &words, least: 16},
	{name: "GitLab", prefix: "glpat-", run: &dashed, least: 16},
	{name: "Slack", prefix: "xoxa-", run: &dashed, least: 8, digit: true},
	{name: "Slack", prefix: "xoxb-", run: &dashed, least: 8, digit: true},
	{name: "Slack", prefix: "xoxe-", run: &dashed, least: 8, digit: true},
	{name: "Slack", prefix: "xoxp-", run: &dashed, least: 8, digit: true},
	{name: "Slack", prefix: "xoxr-", run: &dashed, least: 8, digit: true},
	{name: "Slack", prefix: "xoxs-", run: &dashed, least: 8, digit: true},
	{name: "OpenAI, Anthropic", prefix: "sk-", run: &dashed, least: 16, digit: true},
	{name: "Stripe", prefix: "sk_live_", run: &letters, least: 10},
	{name: "Stripe", prefix: "sk_test_", run: &letters, least: 10},
	{name: "Stripe", prefix: "rk_live_", run: &letters, least: 10},
	{name: "Google", prefix: "AIza", run: &dashed, least: 30},
	{name: "Google", prefix: "ya29.", run: &dashed, least: 16},
	{name: "npm", prefix: "npm_", run: &letters, least: 30},
	{name: "PyPI", prefix: "pypi-", run: &dashed, least: 16, digit: true},
	{name: "SendGrid", prefix: "SG.", run: &dotted, least: 32, digit: true},
	{name: "Vault", prefix: "hvs.", run: &dashed, least: 16},
	{name: "DigitalOcean", prefix: "dop_v1_", run: &hexDigits, least: 32},
	{name: "JWT", prefix: "eyJ", run: &dotted, least: 20, within: ".eyJ"},
	{name: "Authorization", prefix: "Bearer ", run: &header, least: 16, digit: true},
	{name: "Authorization", prefix: "bearer ", run: &header, least: 16, digit: true},
	{name: "Authorization", prefix: "Basic ", run: &header, least: 16, digit: true},
	{name: "URL", prefix: "://", user: true},
	{name: "private key", prefix: pemBegin},
}

// Bounds of a token, in bytes.
const (
	maxToken   = 8 << 10
	nearToken  = 1 << 10 // distance of a token's context
	maxUser    = 512     // of user:password
	maxPEM     = 16 << 10
	maxPEMHead = 64
)

const (
	pemBegin = "-----BEGIN "
	pemKey   = "PRIVATE KEY-----"
	pemEnd   = "-----END "
)

// byFirst are the formats by their first byte.
var byFirst = func() (t [256][]*format) {
	for i := range formats {
		c := formats[i].prefix[0]
		t[c] = append(t[c], &formats[i])
	}
	return t
}()

// at looks for a token at text[i] and returns the range of its secret part. The prefix names the kind of token, and
// stays.
func (f *format) at(text []byte, i int, ends *runEnds) (from, to int) {
	if !bytes.HasPrefix(text[i:], []byte(f.prefix)) || f.prefix[0] != ':' && i > 0 && words[text[i-1]] {
		return 0, 0
	}
	begin := i + len(f.prefix)
	switch {
	case f.prefix == pemBegin:
		return pem(text, begin)
	case f.user:
		return userInfo(text, begin)
	}
	end := min(ends.of(f.run, text, begin), begin+maxToken)
	if first := text[begin:min(end, begin+nearToken)]; end-begin < f.least || f.digit && !bytes.ContainsAny(first, digits) ||
		f.within != "" && !bytes.Contains(first, []byte(f.within)) {
		return 0, 0
	}
	return begin, end
}

// runEnds remembers where runs of characters end: nested token starts are checked once.
type runEnds struct {
	run      *class
	from, to int
}

func (r *runEnds) of(run *class, text []byte, begin int) int {
	if r.run == run && r.from <= begin && begin <= r.to {
		return r.to
	}
	end := begin
	for end < len(text) && run[text[end]] {
		end++
	}
	*r = runEnds{run, begin, end}
	return end
}

// userInfo returns the range of the password of a URL, whose host comes after an @.
func userInfo(text []byte, begin int) (from, to int) {
	colon := -1
	for i := begin; i < len(text); i++ {
		switch c := text[i]; {
		case c == '@' && colon >= 0:
			return colon + 1, i
		case c == ':' && colon < 0:
			colon = i
		case !inUser[c] || i-begin >= maxUser:
			return 0, 0
		}
	}
	return 0, 0
}

// pem returns the range of a private key in PEM: what is between its first line and its last, as far as it looks like one.
func pem(text []byte, begin int) (from, to int) {
	head := text[begin:min(len(text), begin+maxPEMHead)]
	at := bytes.Index(head, []byte(pemKey))
	if at < 0 {
		return 0, 0
	}
	from = begin + at + len(pemKey)
	for to = from; to < len(text) && to-from < maxPEM && inPEM[text[to]]; to++ {
		if rest := text[to:]; text[to] == '-' && bytes.HasPrefix([]byte(pemEnd), rest[:min(len(rest), len(pemEnd))]) {
			break // its last line, perhaps incomplete
		}
	}
	return from, to
}
