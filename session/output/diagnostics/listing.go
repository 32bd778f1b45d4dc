package diagnostics

import (
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Entry is a file in a listing. Missing parts are empty or 0.
type Entry struct {
	Name      string `json:"name"`
	Dir       string `json:"dir,omitempty"` // heading it stands under
	Type      string `json:"type,omitempty"`
	Mode      string `json:"mode,omitempty"` // as printed: -rw-r--r--
	Links     int    `json:"links,omitempty"`
	Owner     string `json:"owner,omitempty"`
	Group     string `json:"group,omitempty"`
	SizeBytes int64  `json:"size_bytes,omitempty"` // rounded, if printed with a unit
	Time      string `json:"time,omitempty"`       // as printed
	Target    string `json:"target,omitempty"`     // of a symbolic link
}

// entryTypes are the first letters of a mode.
var entryTypes = map[byte]string{
	'-': "file", 'd': "dir", 'l': "link", 'c': "char-device", 'b': "block-device", 's': "socket", 'p': "fifo",
}

// indicators are what ls -F appends to names.
var indicators = map[byte]string{'/': "dir", '*': "file", '@': "link", '=': "socket", '|': "fifo", '>': "door"}

// listingReader reads ls: long, one name a line, or in columns.
type listingReader struct {
	long, classify, single bool
	noOwner, noGroup       bool
	many                   bool // several directories: headings come
	prefixed               bool // inodes or blocks come before names
	dir                    string
	blank                  bool // the previous line was blank or missing
	entries                []Entry
	lost                   bool
}

func newListing(c Command) *listingReader {
	l := &listingReader{blank: true}
	l.long = c.Has("-l", "-g", "-o", "-n", "--format=long", "--full-time") || c.Name == "ll" || c.Name == "vdir"
	l.noOwner = c.Has("-g")
	l.noGroup = c.Has("-o", "-G", "--no-group")
	l.classify = c.Has("-F", "-p", "--classify", "--file-type")
	l.single = c.Has("-1", "-m", "--format=single-column")
	l.prefixed = c.Has("-i", "-s", "--inode", "--size")
	operands := 0
	for _, a := range c.Args {
		if a == "-" || !strings.HasPrefix(a, "-") {
			operands++
		}
	}
	l.many = operands > 1 || c.Has("-R", "--recursive")
	return l
}

// longLine has mode, links, owner, group, size (or device numbers), time and name, possibly after an inode or blocks.
// Owner and group are optional.
var longLine = pattern.Lazy(`^(?:\s*\d+\s+){0,2}([-dlcbpsDC?][-rwxsStTlL?]{9})[.+@]?\s+(\d+|\?)\s+((?:\S+\s+){0,2}?)` +
	`(\d+,\s*\d+|[\d.,]+[KMGTPE]?i?B?|\?)\s+` +
	`((?:\d{4}-)?\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: [+-]\d{4})?)?|[\p{L}.]{3,5}\s+\d{1,2}\s+(?:\d\d:\d\d|\d{4})|\d{1,2}\.?\s+[\p{L}.]{3,5}\s+(?:\d\d:\d\d|\d{4})|\?) (.+)$`)

func (l *listingReader) read(_ int, line string) {
	blank := l.blank
	l.blank = strings.TrimSpace(line) == ""
	switch {
	case l.blank:
	case len(l.entries) >= maxEntries:
		l.lost = true
	case blank && l.many && strings.HasSuffix(line, ":"):
		l.dir = strings.Clone(unquote(strings.TrimSuffix(line, ":")))
	case complaint.MatchString(line):
	case l.long || longLine.MatchString(line):
		if !totalLine.MatchString(line) {
			l.readLong(line)
		}
	case l.single:
		l.add(Entry{Name: strings.Clone(line)})
	default:
		for name := range strings.SplitSeq(strings.ReplaceAll(line, "\t", "  "), "  ") {
			if name = strings.TrimSpace(name); name != "" {
				l.add(Entry{Name: strings.Clone(name)})
			}
		}
	}
}

var (
	totalLine  = pattern.Lazy(`^\pL+ [\d.,]+[KMGTPE]?i?B?$`)
	namePrefix = pattern.Lazy(`^\s*\d+[KMG]? (?:\s*\d+[KMG]? )?`)
	complaint  = pattern.Lazy(`^(?:\S*/)?(?:ls|g?dir|vdir): `)
)

func (l *listingReader) readLong(line string) {
	m := longLine.FindStringSubmatch(strings.Clone(line)) // the output is not kept for it
	if m == nil {
		return
	}
	e := Entry{Name: m[6], Mode: m[1], Links: number(m[2]), SizeBytes: sizeBytes(m[4]), Time: m[5], Type: entryTypes[m[1][0]]}
	owners := strings.Fields(m[3])
	if !l.noOwner && len(owners) > 0 {
		e.Owner, owners = owners[0], owners[1:]
	}
	if !l.noGroup && len(owners) > 0 {
		e.Group = owners[0]
	}
	if e.Type == "link" {
		e.Name, e.Target, _ = strings.Cut(e.Name, " -> ")
		e.Target = unquote(e.Target)
	}
	l.add(e)
}

func (l *listingReader) add(e Entry) {
	if len(l.entries) >= maxEntries {
		l.lost = true
		return
	}
	if l.prefixed && e.Mode == "" {
		e.Name = namePrefix.ReplaceAllString(e.Name, "")
	}
	e.Name = unquote(e.Name)
	if n := len(e.Name); l.classify && n > 1 && indicators[e.Name[n-1]] != "" {
		if e.Type == "" {
			e.Type = indicators[e.Name[n-1]]
		}
		e.Name = e.Name[:n-1]
	}
	e.Dir = l.dir
	l.entries = append(l.entries, e)
}

func (l *listingReader) into(r *Result) {
	r.Kind, r.Listing, r.Truncated = Listing, l.entries, l.lost
}

// unquote undoes the quotes that ls puts around names for a terminal, and git around
// names with unusual characters.
func unquote(s string) string {
	if len(s) < 2 || s[0] != s[len(s)-1] {
		return s
	}
	switch s[0] {
	case '\'':
		return strings.ReplaceAll(s[1:len(s)-1], `'\''`, `'`)
	case '"':
		if u, err := strconv.Unquote(s); err == nil {
			return u
		}
		return s[1 : len(s)-1]
	}
	return s
}

// sizeBytes parses 4096, 4.0K, 1,2G. It returns 0 for device numbers.
func sizeBytes(s string) int64 {
	s = strings.TrimSuffix(strings.TrimSuffix(s, "B"), "i")
	unit := int64(1)
	if s != "" {
		if i := strings.IndexByte("KMGTPE", s[len(s)-1]); i >= 0 {
			unit = 1 << (10 * (i + 1))
			s = s[:len(s)-1]
		}
	}
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil || f < 0 || f*float64(unit) >= 1<<63 {
		return 0
	}
	return int64(f * float64(unit))
}
