package redact

import (
	"encoding/base64"
	"strings"
)

// maxEncoded bounds the encoded forms of a value that are learned.
const maxEncoded = 100

// encodedForms returns the forms in which programs print a value: in URLs, in HTML, quoted for shells, in Base64, and with
// its tabs expanded. Each is a separate value: output itself is decoded only for backslashes. Base64 includes the forms
// within a longer value.
func encodedForms(value string) (forms []string) {
	if len(value) > MaxValue {
		return nil
	}
	seen := map[string]bool{value: true}
	add := func(form string) {
		if !seen[form] && len(form) >= MinValue && len(seen) <= maxEncoded {
			seen[form] = true
			forms = append(forms, form)
		}
	}
	// RFC 3986 with path characters; Python's quote; JavaScript's encodeURIComponent and encodeURI.
	for _, keep := range []string{"-_.~", "-_.~$&+=:@", "-_.~/", "-_.!~*'()", "-_.!~*'();/?:@&=+$,#"} {
		for _, hex := range []string{"0123456789ABCDEF", "0123456789abcdef"} {
			add(percentEncode(value, keep, hex, "%20"))
			add(percentEncode(value, keep, hex, "+"))
		}
	}
	for _, quote := range []string{`"`, "&#34;", "&quot;"} {
		for _, apostrophe := range []string{"'", "&#39;", "&#x27;", "&apos;", "&#039;"} {
			add(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, quote, "'", apostrophe).Replace(value))
		}
	}
	for _, quote := range []string{`'\''`, `'"'"'`} { // as shells print it, and as programs quote for shells
		add(strings.ReplaceAll(value, "'", quote))
	}
	for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		add(coding.EncodeToString([]byte(value)))
		for before := range 3 { // bytes of other text in front, as in user:password
			text := coding.EncodeToString([]byte("xx"[:min(before, 2)] + value))
			add(text[(8*before+5)/6 : 8*(before+len(value))/6])
		}
	}
	for _, form := range expandTabs(value) {
		add(form)
	}
	return forms
}

// percentEncode returns a value in URL encoding.
func percentEncode(value, keep, hex, space string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case alnumBytes[c] || strings.IndexByte(keep, c) >= 0:
			b.WriteByte(c)
		case c == ' ':
			b.WriteString(space)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// tabWidth is the default distance of tab stops.
const tabWidth = 8

// expandTabs returns the forms of a value with one or two tabs on a screen: a tab's width depends on its column.
func expandTabs(value string) []string {
	if n := strings.Count(value, "\t"); n == 0 || n > 2 {
		return nil
	}
	forms := []string{value}
	for strings.Contains(forms[0], "\t") {
		var next []string
		for _, form := range forms {
			for n := range tabWidth {
				next = append(next, strings.Replace(form, "\t", strings.Repeat(" ", n+1), 1))
			}
		}
		forms = next
	}
	return forms
}
