//! The scenarios that come with Sojourn: the files of the folder `scenarios`, by name.

macro_rules! shipped {
    ($folder:literal, $($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../scenarios/", $folder, $name, ".toml")))),+]
    };
}

/// Names and texts of the scenarios that documents and studies refer to.
pub const SCENARIOS: &[(&str, &str)] = shipped![
    "",
    "eleven-uploads",
    "evening",
    "fibre",
    "home",
    "low-latency",
    "neighbourhood",
    "tiers",
    "two-queues",
    "upload",
];

/// Names and texts of the gallery, in its order.
pub const GALLERY: &[(&str, &str)] = shipped![
    "gallery/",
    "01-bufferbloat",
    "02-codel",
    "03-docsis-pie",
    "04-sfq-codel",
    "05-bittorrent",
    "06-tiers",
    "07-shared-channel",
    "08-fibre",
    "09-cmts",
    "10-abb",
    "11-low-latency",
    "12-l4s",
    "13-router",
    "14-cake-router",
    "15-satellite",
    "16-mobile",
    "17-wifi",
    "18-today",
    "19-responsiveness",
    "20-high-split",
    "21-mixed-modems",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folders_is_there() {
        for (folder, shipped) in [("", SCENARIOS), ("/gallery", GALLERY)] {
            let folder = format!("{}/../../scenarios{folder}", env!("CARGO_MANIFEST_DIR"));
            let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let mut names: Vec<_> = paths
                .filter(|path| path.is_file())
                .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
                .collect();
            names.sort();
            assert_eq!(names, shipped.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        }
    }
}
