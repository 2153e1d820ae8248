/** Hands a text to the reader as a file; `at` is an instant for its name. */
export function download(text: string, name: string, at: string, type: string, ending: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = `${name}-${at.slice(0, 19).replaceAll(":", "")}.${ending}`;
  link.click();
  URL.revokeObjectURL(link.href);
}
