package building

import "strings"

// joinedOptions are compiler options of more than one letter to which a path is joined without a separator.
var joinedOptions = []string{"-MF", "-MT", "-MQ", "-MJ", "-isystem", "-idirafter", "-iquote", "-include", "-imacros", "-isysroot", "-iprefix", "-iwithprefix"}

// Paths returns the pieces of a word that may be paths: after =, comma, colon, @ and blanks, and after option letters.
// Relative paths count; a piece without slash, tilde and dots does not.
func Paths(word string) (all []string) {
	if !strings.ContainsAny(word, "/~") && !strings.Contains(word, "..") {
		return nil
	}
	for piece := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune("=,:@;'\"|()<> \t\n", r) }) {
		if strings.HasPrefix(piece, "-") {
			piece = afterOption(piece)
		}
		if piece != "" && (strings.ContainsRune(piece, '/') || piece == ".." || piece[0] == '~') {
			all = append(all, piece)
		}
	}
	return all
}

// afterOption returns the value that is joined to an option: -I/usr/include, -o../x, -MFx/y.
func afterOption(piece string) string {
	for _, option := range joinedOptions {
		if rest, ok := strings.CutPrefix(piece, option); ok {
			return rest
		}
	}
	if len(piece) < 3 || piece[1] == '-' {
		if at := strings.IndexByte(piece, '/'); at >= 0 {
			return piece[at:]
		}
		return ""
	}
	return piece[2:]
}
