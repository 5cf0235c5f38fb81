//! Where an archive is: `file:///dir` or `s3://bucket/prefix`.

use crate::{ArchiveError, Result};
use std::path::PathBuf;
use url::Url;

/// A parsed archive URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A folder of this machine, or mounted there.
    Folder(PathBuf),
    /// A bucket of an S3-compatible store.
    S3 {
        /// Bucket.
        bucket: String,
        /// Prefix of all objects, without slashes at its ends; may be empty.
        prefix: String,
        /// `?endpoint=`: where the store is; otherwise `AWS_ENDPOINT_URL` or Amazon's.
        endpoint: Option<String>,
        /// `?region=`; otherwise `AWS_REGION` or `AWS_DEFAULT_REGION`, else us-east-1.
        region: Option<String>,
    },
}

impl Target {
    /// Reads a URL. Credentials do not belong into it: it is shown by `SHOW VARIABLES`.
    ///
    /// # Errors
    /// A sentence for the person who gave it.
    pub fn parse(text: &str) -> Result<Target> {
        let bad = |why: &str| {
            ArchiveError::Url(format!(
                "archive URL {text:?}: {why} (file:///directory or s3://bucket/prefix[?endpoint=URL&region=NAME])"
            ))
        };
        let url = Url::parse(text).map_err(|e| bad(&e.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad(
                "credentials are taken from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), not from the URL",
            ));
        }
        match url.scheme() {
            "file" => {
                if url.query().is_some() {
                    return Err(bad("a folder has no options"));
                }
                let path = url.to_file_path();
                path.ok()
                    .filter(|p| p.is_absolute() && p.parent().is_some())
                    .map(Target::Folder)
                    .ok_or_else(|| bad("not the path of a folder"))
            }
            "s3" => {
                let bucket = url.host_str().filter(|h| !h.is_empty());
                let bucket = bucket.ok_or_else(|| bad("no bucket"))?.to_owned();
                let (mut endpoint, mut region) = (None, None);
                for (name, value) in url.query_pairs() {
                    match &*name {
                        "endpoint" => endpoint = Some(value.into_owned()),
                        "region" => region = Some(value.into_owned()),
                        _ => return Err(bad("the options are endpoint and region")),
                    }
                }
                Ok(Target::S3 {
                    bucket,
                    prefix: url.path().trim_matches('/').to_owned(),
                    endpoint,
                    region,
                })
            }
            _ => Err(bad("an archive is a folder or a bucket")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        assert_eq!(
            Target::parse("file:///a%20b/c").unwrap(),
            Target::Folder("/a b/c".into())
        );
        assert_eq!(
            Target::parse("s3://b/x/y/?endpoint=http://127.0.0.1:9000").unwrap(),
            Target::S3 {
                bucket: "b".into(),
                prefix: "x/y".into(),
                endpoint: Some("http://127.0.0.1:9000".into()),
                region: None,
            }
        );
        for bad in [
            "",
            "/dir",
            "file:///",
            "file:///d?endpoint=x",
            "s3://",
            "s3://b/p?key=secret",
            "s3://id:secret@b/p",
            "ftp://host/dir",
        ] {
            let e = Target::parse(bad).unwrap_err().to_string();
            assert!(e.starts_with("archive URL"), "{bad}: {e}");
        }
    }
}
