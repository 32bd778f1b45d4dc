package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/identity"
)

// Kind is the kind of a record.
type Kind string

// Kinds of records. The first ones are requests, with a verdict.
const (
	Line      Kind = "line"      // a line for a shell
	Command   Kind = "command"   // argv of run and new
	Execution Kind = "execution" // an execution within a session
	Network   Kind = "network"   // a connection out of a sandbox
	Reveal    Kind = "reveal"    // secrets shown
	Write     Kind = "write"     // a file of rules that becomes trusted, and similar files
	Stop      Kind = "stop"      // an agent ends other sessions

	Connection Kind = "connection" // a process that a keeper refused to serve

	Answer Kind = "answer" // an approval was answered
	End    Kind = "end"    // a job ended

	// Records about the log itself.
	Begin   Kind = "begin"   // a daemon opened the log
	Gap     Kind = "gap"     // Lost records could not be written
	Torn    Kind = "torn"    // a partial record at the end was saved and cut off
	Missing Kind = "missing" // the records between the previous and this one are missing
	Damage  Kind = "damage"  // the end of the log differs from its last known state
	Drop    Kind = "drop"    // old records were removed (Dropped)
	Close   Kind = "close"   // a daemon closed the log; the next record is of a daemon that opens it
)

// isOwn reports whether a record is about the log itself.
func (k Kind) isOwn() bool {
	switch k {
	case Begin, Gap, Torn, Missing, Damage, Drop, Close:
		return true
	}
	return false
}

// Record is a recorded action. Seq, Time (if zero), Prev and Hash are set when it is written.
type Record struct {
	Seq      uint64         `json:"seq" doc:"number, from 1"`
	Time     time.Time      `json:"time"`
	Actor    identity.Actor `json:"actor" doc:"the requesting caller"`
	Kind     Kind           `json:"kind" doc:"line, command, execution, network, reveal, write, stop, connection, answer, end; of the log itself: begin, gap, torn, missing, damage, drop, close"`
	Session  string         `json:"session,omitempty" doc:"id"`
	Name     string         `json:"name,omitempty" doc:"of the session"`
	Job      string         `json:"job,omitempty" doc:"id"`
	Line     string         `json:"line,omitempty" doc:"the requested line"`
	Path     string         `json:"path,omitempty" doc:"file that was executed; host:port of a connection; what a reveal or a write is about"`
	Argv     []string       `json:"argv,omitempty"`
	Parent   []string       `json:"parent,omitempty" doc:"argv of its parent"`
	Depth    int            `json:"depth,omitempty" doc:"of an execution: 0 is the requested program"`
	Cwd      string         `json:"cwd,omitempty"`
	Verdict  string         `json:"verdict,omitempty" doc:"allow, ask, deny; of an answer: approved, rejected"`
	Rule     string         `json:"rule,omitempty" doc:"what decided"`
	Approval string         `json:"approval,omitempty" doc:"id, as in A7"`
	Scope    string         `json:"scope,omitempty" doc:"of an answer: once, session, always"`
	Output   *Range         `json:"output,omitempty" doc:"offsets of its output"`
	Exit     *int           `json:"exit,omitempty"`
	Signal   string         `json:"signal,omitempty"`
	Lost     uint64         `json:"lost,omitempty" doc:"of a gap: records that could not be written"`
	Dropped  *Dropped       `json:"dropped,omitempty" doc:"of removed old records"`
	Note     string         `json:"note,omitempty"`
	Prev     string         `json:"prev" doc:"hash of the record before"`
	Hash     string         `json:"hash" doc:"SHA-256 of the line's bytes before ,\"hash\":\""`
}

// Range is a range of a session's output, in bytes; To is the first that does not belong to it.
type Range struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// Bounds of a record, in bytes. Longer text is truncated, with the hash of the whole.
const (
	maxText = 16 << 10
	maxLine = 1 << 20 // of a line of the file; a longer line is invalid
)

// zeroHash is the previous hash of the first record.
var zeroHash = strings.Repeat("0", 2*sha256.Size)

// hashMark separates the hashed part of a line from its hash.
const hashMark = `,"hash":"`

// encode returns the line of a record, and sets its hash.
func (r *Record) encode() ([]byte, error) {
	r.Hash = ""
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("encode an audit record: %w", err)
	}
	line, ok := bytes.CutSuffix(b.Bytes(), []byte(hashMark+"\"}\n"))
	if !ok {
		return nil, errors.New("encode an audit record: its hash is not at its end")
	}
	sum := sha256.Sum256(line)
	r.Hash = hex.EncodeToString(sum[:])
	return append(line, hashMark+r.Hash+"\"}\n"...), nil
}

// decode decodes a line without its end, and checks its hash.
func decode(line []byte) (r Record, err error) {
	const tail = len(hashMark) + 2*sha256.Size + len(`"}`)
	at := len(line) - tail
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(hashMark)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return r, errors.New("it is no record")
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return Record{}, errors.New("it is no record")
	}
	sum := sha256.Sum256(line[:at])
	if want := hex.EncodeToString(sum[:]); string(line[at+len(hashMark):len(line)-2]) != want || r.Hash != want {
		return r, errChanged
	}
	return r, nil
}

// errChanged is the error of a line with a wrong hash.
var errChanged = errors.New("it does not match its hash: it was changed")

// normalize bounds a record's texts, escapes invalid UTF-8, and masks secrets.
func (r *Record) normalize(mask func(string) string) {
	for _, s := range []*string{&r.Line, &r.Path, &r.Cwd, &r.Note, &r.Rule, &r.Name} {
		*s = normalizeText(*s, maxText, mask)
	}
	r.Argv, r.Parent = normalizeWords(r.Argv, mask), normalizeWords(r.Parent, mask)
	r.Time = r.Time.Round(0)
}

// normalizeText normalizes one text to a limit in bytes.
func normalizeText(s string, limit int, mask func(string) string) string {
	if mask != nil {
		s = mask(s)
	}
	if len(s) > limit {
		sum := sha256.Sum256([]byte(s))
		s = fmt.Sprintf("%s… (%d bytes in all, SHA-256 %x)", truncateRunes(s, limit), len(s), sum)
	}
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder // escaped, so that different invalid names stay different
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// truncateRunes returns the first n bytes of s, without a partial character.
func truncateRunes(s string, n int) string {
	for k := n; k > n-utf8.UTFMax && k > 0; k-- {
		if utf8.RuneStart(s[k]) {
			return s[:k]
		}
	}
	return s[:n]
}

// normalizeWords normalizes an argument vector.
func normalizeWords(words []string, mask func(string) string) []string {
	if len(words) == 0 {
		return nil
	}
	if mask != nil { // masking may depend on the previous word
		masked := strings.Split(mask(strings.Join(words, "\x00")), "\x00")
		if len(masked) != len(words) {
			masked = make([]string, len(words))
			for i, w := range words {
				masked[i] = mask(w)
			}
		}
		words = masked
	}
	out := make([]string, 0, min(len(words), 256))
	left := maxText
	for i, w := range words {
		if left <= 0 || i >= 1000 {
			sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
			return append(out, fmt.Sprintf("… (%d words in all, SHA-256 %x)", len(words), sum))
		}
		w = normalizeText(w, min(maxText/4, left), nil)
		left -= len(w) + 1
		out = append(out, w)
	}
	return out
}
