package vterm

import (
	"strings"
	"testing"
)

// TestClusterWidths checks that clusters have the widths of other terminals. A cluster of Unicode takes as many columns
// as its letters, and its text stays whole.
//
// FAULT: B27
// FEATURES: R30
func TestClusterWidths(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		columns    int
	}{
		{"Devanagari kṣa", "क्ष", 2}, {"jña", "ज्ञ", 2}, {"tra", "त्र", 2}, {"śra", "श्र", 2}, {"rka", "र्क", 2}, {"with a vowel sign", "क्षि", 3},
		{"three consonants", "क्ष्म", 3}, {"joined by ZWJ", "क्\u200dष", 2}, {"word", "नमस्ते", 4}, {"word with vowel signs", "हिन्दी", 5},
		{"Bengali kṣa", "ক্ষ", 2}, {"Gujarati", "ક્ષ", 2}, {"Oriya", "କ୍ଷ", 2}, {"Telugu", "క్ష", 2}, {"Malayalam", "ക്ഷ", 2},
		{"Thai SARA AM", "กำ", 2}, {"Thai SARA AM and tone", "น้ำ", 2}, {"Lao AM", "ກຳ", 2}, {"Khmer coeng", "ស្ត", 2}, {"Balinese", "ᬓ᭄ᬱ", 2},
		{"halfwidth voiced", "\uff76\uff9e", 2}, {"halfwidth semi-voiced", "\uff8a\uff9f", 2}, {"halfwidth sound mark after a full letter", "カ\uff9e", 3},
		{"Arabic number sign", "\u0600\u0661", 2}, {"Arabic end of ayah", "\u06dd\u0661", 2}, {"Syriac abbreviation", "\u070f\u0710", 2},
		{"Malayalam dot reph", "\u0d4eക", 2}, {"Kaithi number sign", "\U000110bd\U00011083", 2},
		// and what stays together
		{"nukta", "क\u093c", 1}, {"virama at the end", "क्", 1}, {"Thai vowel and tone", "ที่", 1}, {"accents", "e\u0301\u0302", 1},
		{"Hangul", "\u1100\u1161\u11a8", 2}, {"emoji", "\U0001F469\u200d\U0001F4BB", 2}, {"flag", "\U0001F1E9\U0001F1EA", 2}, {"skin", "\U0001F44D\U0001F3FD", 2},
	} {
		for _, prefix := range []string{"", "a", "你", "\x1b[31m"} {
			term := New(Options{Cols: 20, Rows: 2})
			feed(term, prefix)
			before := term.cur.Col
			feed(term, tt.text)
			if got := term.cur.Col - before; got != tt.columns {
				t.Errorf("%s, %q after %q, takes %d columns, want %d", tt.name, tt.text, prefix, got, tt.columns)
			}
			if got := text(term); !strings.Contains(got, tt.text) {
				t.Errorf("%s: %q became %q", tt.name, tt.text, got)
			}
		}
	}
}
