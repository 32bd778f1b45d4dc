package compare

import "strings"

// version is a version in a line.
type version struct{ name, text string }

// versionsIn returns the versions in a line, or nil: 1.2.3, v1.2, go1.26, name@1.2 and the number after the word version.
func versionsIn(line []byte) []version {
	if len(line) > 512 {
		return nil
	}
	var found []version
	for i := 0; i < len(line); i++ {
		if byteClass[line[i]] != classDigit || i > 0 && (byteClass[line[i-1]] == classDigit || line[i-1] == '.') {
			continue
		}
		end, dots := i, 0
		for end < len(line) && (byteClass[line[end]] == classDigit || line[end] == '.' && end+1 < len(line) && byteClass[line[end+1]] == classDigit) {
			if line[end] == '.' {
				dots++
			}
			end++
		}
		name := nameBefore(string(line[:i]))
		if isVersion(string(line[:i]), dots) && !followedByUnit(line[end:]) && name != "" {
			found = append(found, version{name, string(line[i:end])})
		}
		i = end
	}
	return found
}

// isVersion reports whether a number with the given count of dots is a version; before is the text before it.
func isVersion(before string, dots int) bool {
	switch dots {
	case 2:
		return !strings.HasSuffix(before, "/") // unlike in dates and addresses
	case 1:
		low := strings.ToLower(before)
		return strings.HasSuffix(low, "version ") || strings.HasSuffix(low, "version: ") || endsInLetter(low) || strings.HasSuffix(low, "@") ||
			strings.HasSuffix(low, "version v")
	}
	return false
}

func endsInLetter(s string) bool { return s != "" && byteClass[s[len(s)-1]] == classLetter }

// followedByUnit reports whether a unit follows, so that the number is a quantity.
func followedByUnit(rest []byte) bool {
	n := 0
	for n < len(rest) && byteClass[rest[n]] == classLetter {
		n++
	}
	return n > 0 && units[string(rest[:n])] || len(rest) > 0 && rest[0] == '%'
}

// nameBefore returns the last word of a text, without the characters that join it to a version.
func nameBefore(s string) string {
	const joints = " \t(@-:="
	s = strings.TrimRight(s, joints)
	if n := len(s); n > 0 && s[n-1] == 'v' && (n == 1 || byteClass[s[n-2]] != classLetter) {
		s = strings.TrimRight(s[:n-1], joints)
	}
	if i := strings.LastIndexAny(s, " \t(),;\"'"); i >= 0 {
		if s[i+1:] == "version" {
			return nameBefore(s[:i])
		}
		s = s[i+1:]
	}
	return s
}
