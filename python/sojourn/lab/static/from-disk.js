// Browsers load no modules and no workers for a page that is opened as a file; this script they do load.

if (location.protocol === "file:") {
  addEventListener("DOMContentLoaded", () => {
    document.getElementById("status").textContent =
      "A browser does not run this page from a file. Open it with `sojourn lab`, or serve its folder with any " +
      "web server: `python3 -m http.server` in the folder, then http://localhost:8000/.";
  });
}
