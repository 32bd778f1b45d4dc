package pixel

import (
	"image"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/image/font/sfnt"
)

// systemFonts are names of files of fonts with many characters, best first, as systems
// install them; for each the first one found is taken.
var systemFonts = [][]string{
	{"NotoSansMonoCJKsc-Regular.otf", "NotoSansCJK-Regular.ttc", "NotoSansCJKsc-Regular.otf", "NotoSansCJKjp-Regular.otf",
		"SourceHanSans-Regular.ttc", "wqy-microhei.ttc", "wqy-zenhei.ttc", "PingFang.ttc", "Hiragino Sans GB.ttc", "msyh.ttc", "msgothic.ttc"},
	{"DejaVuSans.ttf", "Apple Symbols.ttf", "seguisym.ttf"},
	{"NotoSansSymbols2-Regular.ttf", "NotoSansSymbols-Regular.ttf"},
	{"Symbola.ttf", "Symbola_hint.ttf"},
	{"unifont.otf", "unifont.ttf"},
}

var systemEmoji = []string{"NotoColorEmoji.ttf"}

// fontDirs are where systems keep fonts.
func fontDirs() []string {
	dirs := []string{"/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts"}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".fonts"), filepath.Join(home, ".local/share/fonts"), filepath.Join(home, "Library/Fonts"))
	}
	if windows := os.Getenv("WINDIR"); windows != "" {
		dirs = append(dirs, filepath.Join(windows, "Fonts"))
	}
	return dirs
}

// maxFontEntries bounds the search for fonts.
const maxFontEntries = 20000

// fontFiles are the files below the font directories, by name.
func fontFiles() map[string]string {
	files := map[string]string{}
	left := maxFontEntries
	for _, dir := range fontDirs() {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if left--; left < 0 {
				return filepath.SkipAll
			}
			if err == nil && d.Type().IsRegular() && files[d.Name()] == "" {
				files[d.Name()] = path
			}
			return nil // what cannot be read has no font for us
		})
	}
	return files
}

// withSystem is the embedded fonts and those of the machine, looked for on first use.
var withSystem = sync.OnceValue(func() *fonts {
	f := *embedded()
	files := fontFiles()
	for _, names := range systemFonts {
		for _, name := range names {
			if parsed := readFont(files[name]); parsed != nil {
				f.more = append(f.more, parsed)
				break
			}
		}
	}
	for _, name := range systemEmoji {
		if file := openFont(files[name]); file != nil && f.color == nil {
			f.color = newBitmapEmoji(file)
		}
	}
	return &f
})

// openFont opens a font's file; nil when it cannot be used. It stays open: such fonts have
// tens of megabytes, of which a picture needs a few characters.
func openFont(path string) *os.File {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	return f
}

// readFont is the first font of a file; nil when it cannot be used.
func readFont(path string) *sfnt.Font {
	file := openFont(path)
	if file == nil {
		return nil
	}
	c, err := sfnt.ParseCollectionReaderAt(file)
	if err == nil && c.NumFonts() > 0 {
		if f, err := c.Font(0); err == nil {
			return f
		}
	}
	_ = file.Close() // read only
	return nil
}

// emoji is a character as a colour picture that fits a box; nil when no font has it.
func (f *fonts) emoji(text string, w, h int) *image.RGBA {
	if f.color == nil {
		return nil
	}
	return f.color.draw(text, w, h)
}
