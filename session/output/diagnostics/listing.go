package diagnostics

import (
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Entry is a file in a listing. Missing parts are empty or 0.
type Entry struct {
	Name      string `json:"name"`
	Dir       string `json:"dir,omitempty"` // directory from the heading above it
	Type      string `json:"type,omitempty"`
	Mode      string `json:"mode,omitempty"` // as printed: -rw-r--r--
	Links     int    `json:"links,omitempty"`
	Owner     string `json:"owner,omitempty"`
	Group     string `json:"group,omitempty"`
	SizeBytes int64  `json:"size_bytes,omitempty"` // rounded, if printed with a unit
	Time      string `json:"time,omitempty"`       // as printed
	Target    string `json:"target,omitempty"`     // of a symbolic link
}

// entryTypes maps the first letters of a mode to types.
var entryTypes = map[byte]string{
	'-': "file", 'd': "dir", 'l': "link", 'c': "char-device", 'b': "block-device", 's': "socket", 'p': "fifo",
}

// indicators maps the suffixes of ls -F to types.
var indicators = map[byte]string{'/': "dir", '*': "file", '@': "link", '=': "socket", '|': "fifo", '>': "door"}

// listingReader reads ls: long, one name per line, or in columns.
type listingReader struct {
	isLong, hasIndicators, isOnePerLine bool
	noOwner, noGroup                    bool
	hasHeadings                         bool // several directories: their headings appear
	hasNumberPrefix                     bool // inodes or blocks precede names
	dir                                 string
	isPreviousBlank                     bool // the previous line was blank or missing
	entries                             []Entry
	isTruncated                         bool
}

func newListingReader(c Command) *listingReader {
	l := &listingReader{isPreviousBlank: true}
	l.isLong = c.HasOption("-l", "-g", "-o", "-n", "--format=long", "--full-time") || c.Name == "ll" || c.Name == "vdir"
	l.noOwner = c.HasOption("-g")
	l.noGroup = c.HasOption("-o", "-G", "--no-group")
	l.hasIndicators = c.HasOption("-F", "-p", "--classify", "--file-type")
	l.isOnePerLine = c.HasOption("-1", "-m", "--format=single-column")
	l.hasNumberPrefix = c.HasOption("-i", "-s", "--inode", "--size")
	operands := 0
	for _, a := range c.Args {
		if a == "-" || !strings.HasPrefix(a, "-") {
			operands++
		}
	}
	l.hasHeadings = operands > 1 || c.HasOption("-R", "--recursive")
	return l
}

// longLine matches mode, links, owner, group, size (or device numbers), time and name, possibly after an inode or blocks.
// Owner and group are optional.
var longLine = pattern.Lazy(`^(?:\s*\d+\s+){0,2}([-dlcbpsDC?][-rwxsStTlL?]{9})[.+@]?\s+(\d+|\?)\s+((?:\S+\s+){0,2}?)` +
	`(\d+,\s*\d+|[\d.,]+[KMGTPE]?i?B?|\?)\s+` +
	`((?:\d{4}-)?\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: [+-]\d{4})?)?|[\p{L}.]{3,5}\s+\d{1,2}\s+(?:\d\d:\d\d|\d{4})|\d{1,2}\.?\s+[\p{L}.]{3,5}\s+(?:\d\d:\d\d|\d{4})|\?) (.+)$`)

func (l *listingReader) read(_ int, line string) {
	blank := l.isPreviousBlank
	l.isPreviousBlank = strings.TrimSpace(line) == ""
	switch {
	case l.isPreviousBlank:
	case len(l.entries) >= maxEntries:
		l.isTruncated = true
	case blank && l.hasHeadings && strings.HasSuffix(line, ":"):
		l.dir = strings.Clone(unquote(strings.TrimSuffix(line, ":")))
	case lsError.MatchString(line):
	case l.isLong || longLine.MatchString(line):
		if !totalLine.MatchString(line) {
			l.readLong(line)
		}
	case l.isOnePerLine:
		l.addEntry(Entry{Name: strings.Clone(line)})
	default:
		for name := range strings.SplitSeq(strings.ReplaceAll(line, "\t", "  "), "  ") {
			if name = strings.TrimSpace(name); name != "" {
				l.addEntry(Entry{Name: strings.Clone(name)})
			}
		}
	}
}

// Patterns of the line "total N", of inodes and blocks before a name, and of error messages of ls.
var (
	totalLine  = pattern.Lazy(`^\pL+ [\d.,]+[KMGTPE]?i?B?$`)
	namePrefix = pattern.Lazy(`^\s*\d+[KMG]? (?:\s*\d+[KMG]? )?`)
	lsError    = pattern.Lazy(`^(?:\S*/)?(?:ls|g?dir|vdir): `)
)

func (l *listingReader) readLong(line string) {
	m := longLine.FindStringSubmatch(strings.Clone(line)) // does not keep the output in memory
	if m == nil {
		return
	}
	e := Entry{Name: m[6], Mode: m[1], Links: number(m[2]), SizeBytes: parseSize(m[4]), Time: m[5], Type: entryTypes[m[1][0]]}
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
	l.addEntry(e)
}

func (l *listingReader) addEntry(e Entry) {
	if len(l.entries) >= maxEntries {
		l.isTruncated = true
		return
	}
	if l.hasNumberPrefix && e.Mode == "" {
		e.Name = namePrefix.ReplaceAllString(e.Name, "")
	}
	e.Name = unquote(e.Name)
	if n := len(e.Name); l.hasIndicators && n > 1 && indicators[e.Name[n-1]] != "" {
		if e.Type == "" {
			e.Type = indicators[e.Name[n-1]]
		}
		e.Name = e.Name[:n-1]
	}
	e.Dir = l.dir
	l.entries = append(l.entries, e)
}

func (l *listingReader) fill(r *Result) {
	r.Kind, r.Listing, r.Truncated = Listing, l.entries, l.isTruncated
}

// unquote removes the quotes that ls adds for a terminal, and git for names with unusual characters.
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

// parseSize parses 4096, 4.0K, 1,2G. It returns 0 for device numbers.
func parseSize(s string) int64 {
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
