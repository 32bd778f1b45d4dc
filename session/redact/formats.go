package redact

import "bytes"

// byteSet is a set of bytes.
type byteSet [256]bool

// newByteSet returns the set of the bytes of chars.
func newByteSet(chars string) (c byteSet) {
	for i := 0; i < len(chars); i++ {
		c[chars[i]] = true
	}
	return c
}

// Characters of byte sets.
const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	alnum  = digits + upper + lower
)

// Byte sets of tokens.
var (
	upperDigits   = newByteSet(upper + digits)
	alnumBytes    = newByteSet(alnum)
	wordBytes     = newByteSet(alnum + "_")
	dashBytes     = newByteSet(alnum + "_-")
	dotBytes      = newByteSet(alnum + "_-.")
	headerBytes   = newByteSet(alnum + "._~+/=-")
	hexDigits     = newByteSet(digits + "abcdef")
	pemBytes      = newByteSet(alnum + "+/=:,- \\\r\n") // in JSON, lines of a key end with a backslash and a letter
	userInfoBytes = func() (c byteSet) {                // user and password in a URL
		for i := '!'; i <= '~'; i++ {
			c[i] = i != '/' && i != '@' && i != '"' && i != '\'' && i != '<' && i != '>'
		}
		return c
	}()
)

// format is the form of a kind of token: a prefix, and a run of characters.
type format struct {
	name, prefix string
	chars        *byteSet // characters after the prefix
	minChars     int      // minimum length of the run
	needsDigit   bool     // the run must contain a digit, unlike names with hyphens
	contains     string   // text that the first 1 KiB of the run must contain
	isURL        bool     // the run is user:password up to an @, and the secret is the password
}

// tokenFormats lists the known kinds of tokens.
var tokenFormats = []format{
	{name: "AWS key", prefix: "AKIA", chars: &upperDigits, minChars: 12},
	{name: "AWS key", prefix: "ASIA", chars: &upperDigits, minChars: 12},
	{name: "GitHub", prefix: "ghp_", chars: &alnumBytes, minChars: 16},
	{name: "GitHub", prefix: "gho_", chars: &alnumBytes, minChars: 16},
	{name: "GitHub", prefix: "ghu_", chars: &alnumBytes, minChars: 16},
	{name: "GitHub", prefix: "ghs_", chars: &alnumBytes, minChars: 16},
	{name: "GitHub", prefix: "ghr_", chars: &alnumBytes, minChars: 16},
	{name: "GitHub", prefix: "github_pat_", chars: &wordBytes, minChars: 16},
	{name: "GitLab", prefix: "glpat-", chars: &dashBytes, minChars: 16},
	{name: "Slack", prefix: "xoxa-", chars: &dashBytes, minChars: 8, needsDigit: true},
	{name: "Slack", prefix: "xoxb-", chars: &dashBytes, minChars: 8, needsDigit: true},
	{name: "Slack", prefix: "xoxe-", chars: &dashBytes, minChars: 8, needsDigit: true},
	{name: "Slack", prefix: "xoxp-", chars: &dashBytes, minChars: 8, needsDigit: true},
	{name: "Slack", prefix: "xoxr-", chars: &dashBytes, minChars: 8, needsDigit: true},
	{name: "Slack", prefix: "xoxs-", chars: &dashBytes, minChars: 8, needsDigit: true},
	{name: "OpenAI, Anthropic", prefix: "sk-", chars: &dashBytes, minChars: 16, needsDigit: true},
	{name: "Stripe", prefix: "sk_live_", chars: &alnumBytes, minChars: 10},
	{name: "Stripe", prefix: "sk_test_", chars: &alnumBytes, minChars: 10},
	{name: "Stripe", prefix: "rk_live_", chars: &alnumBytes, minChars: 10},
	{name: "Google", prefix: "AIza", chars: &dashBytes, minChars: 30},
	{name: "Google", prefix: "ya29.", chars: &dashBytes, minChars: 16},
	{name: "npm", prefix: "npm_", chars: &alnumBytes, minChars: 30},
	{name: "PyPI", prefix: "pypi-", chars: &dashBytes, minChars: 16, needsDigit: true},
	{name: "SendGrid", prefix: "SG.", chars: &dotBytes, minChars: 32, needsDigit: true},
	{name: "Vault", prefix: "hvs.", chars: &dashBytes, minChars: 16},
	{name: "DigitalOcean", prefix: "dop_v1_", chars: &hexDigits, minChars: 32},
	{name: "JWT", prefix: "eyJ", chars: &dotBytes, minChars: 20, contains: ".eyJ"},
	{name: "Authorization", prefix: "Bearer ", chars: &headerBytes, minChars: 16, needsDigit: true},
	{name: "Authorization", prefix: "bearer ", chars: &headerBytes, minChars: 16, needsDigit: true},
	{name: "Authorization", prefix: "Basic ", chars: &headerBytes, minChars: 16, needsDigit: true},
	{name: "URL", prefix: "://", isURL: true},
	{name: "private key", prefix: pemBegin},
}

// Bounds of a token, in bytes.
const (
	maxToken        = 8 << 10
	maxTokenContext = 1 << 10 // distance of a token's context
	maxUser         = 512     // of user:password
	maxPEM          = 16 << 10
	maxPEMHead      = 64
)

const (
	pemBegin = "-----BEGIN "
	pemKey   = "PRIVATE KEY-----"
	pemEnd   = "-----END "
)

// formatsByFirstByte maps first bytes to formats.
var formatsByFirstByte = func() (t [256][]*format) {
	for i := range tokenFormats {
		c := tokenFormats[i].prefix[0]
		t[c] = append(t[c], &tokenFormats[i])
	}
	return t
}()

// match returns the range of the secret part of a token at text[i], or 0, 0. The prefix names the kind of token, and is not
// masked.
func (f *format) match(text []byte, i int, ends *runEnds) (from, to int) {
	if !bytes.HasPrefix(text[i:], []byte(f.prefix)) || f.prefix[0] != ':' && i > 0 && wordBytes[text[i-1]] {
		return 0, 0
	}
	begin := i + len(f.prefix)
	switch {
	case f.prefix == pemBegin:
		return pemRange(text, begin)
	case f.isURL:
		return passwordRange(text, begin)
	}
	end := min(ends.end(f.chars, text, begin), begin+maxToken)
	if first := text[begin:min(end, begin+maxTokenContext)]; end-begin < f.minChars || f.needsDigit && !bytes.ContainsAny(first, digits) ||
		f.contains != "" && !bytes.Contains(first, []byte(f.contains)) {
		return 0, 0
	}
	return begin, end
}

// runEnds caches the end of the last run of characters: nested token starts are checked once.
type runEnds struct {
	chars    *byteSet
	from, to int
}

// end returns the end of the run of chars that starts at begin.
func (r *runEnds) end(run *byteSet, text []byte, begin int) int {
	if r.chars == run && r.from <= begin && begin <= r.to {
		return r.to
	}
	end := begin
	for end < len(text) && run[text[end]] {
		end++
	}
	*r = runEnds{run, begin, end}
	return end
}

// passwordRange returns the range of the password of a URL, which ends at an @.
func passwordRange(text []byte, begin int) (from, to int) {
	colon := -1
	for i := begin; i < len(text); i++ {
		switch c := text[i]; {
		case c == '@' && colon >= 0:
			return colon + 1, i
		case c == ':' && colon < 0:
			colon = i
		case !userInfoBytes[c] || i-begin >= maxUser:
			return 0, 0
		}
	}
	return 0, 0
}

// pemRange returns the range of a private key in PEM, between its first and last line, as far as it looks like one.
func pemRange(text []byte, begin int) (from, to int) {
	head := text[begin:min(len(text), begin+maxPEMHead)]
	at := bytes.Index(head, []byte(pemKey))
	if at < 0 {
		return 0, 0
	}
	from = begin + at + len(pemKey)
	for to = from; to < len(text) && to-from < maxPEM && pemBytes[text[to]]; to++ {
		if rest := text[to:]; text[to] == '-' && bytes.HasPrefix([]byte(pemEnd), rest[:min(len(rest), len(pemEnd))]) {
			break // possibly incomplete last line
		}
	}
	return from, to
}
